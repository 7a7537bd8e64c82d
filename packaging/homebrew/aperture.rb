# Homebrew formula: builds the tagged source.
class Aperture < Formula
  desc "Shows and edits the context window of AI coding agents"
  homepage "https://github.com/aperture-context/aperture"
  url "https://github.com/aperture-context/aperture.git", tag: "v0.1.0"
  license any_of: ["MIT", "Apache-2.0"]

  depends_on "rust" => :build

  def install
    system "cargo", "install", "--profile", "dist", *std_cargo_args
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/aperture.bash" => "aperture"
    fish_completion.install "completions/aperture.fish"
    zsh_completion.install "completions/_aperture"
  end

  test do
    assert_equal "aperture #{version}", shell_output("#{bin}/aperture --version").strip
  end
end
