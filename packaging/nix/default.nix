# Builds the working tree: nix-build packaging/nix
{ pkgs ? import <nixpkgs> { } }:

let
  root = ../..;
  manifest = builtins.fromTOML (builtins.readFile (root + "/Cargo.toml"));
in
pkgs.rustPlatform.buildRustPackage {
  pname = manifest.package.name;
  version = manifest.workspace.package.version;
  src = pkgs.lib.cleanSource root;
  cargoLock.lockFile = root + "/Cargo.lock";

  buildType = "dist";
  # Tests would be built with link-time optimization as well; CI runs them.
  doCheck = false;

  nativeBuildInputs = [ pkgs.installShellFiles ];
  postInstall = ''
    installManPage man/*.1
    installShellCompletion --cmd aperture \
      --bash completions/aperture.bash \
      --fish completions/aperture.fish \
      --zsh completions/_aperture
  '';

  meta = {
    description = manifest.package.description;
    homepage = manifest.workspace.package.homepage;
    license = with pkgs.lib.licenses; [ mit asl20 ];
    mainProgram = "aperture";
  };
}
