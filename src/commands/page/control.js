// Where the answers come from: the server of this page, or the file that holds them.

const inFile = document.getElementById("answers");
const answers = inFile ? JSON.parse(inFile.textContent) : null;
const [given, named] = location.hash.slice(1).split("/");
// The token stays in this tab: not in its address, which is copied, nor in other tabs.
const token = answers ? null : given || sessionStorage.getItem("token");
if (!answers && given) {
  sessionStorage.setItem("token", given);
  history.replaceState(null, "", "#/" + (named ?? ""));
}

export const isFile = answers !== null;

export function firstSession() {
  return isFile ? answers.status?.session ?? "" : named ?? "";
}

// Runs a request, such as {blocks: {}}, about a session and returns its report; throws its error.
export async function ask(request, session) {
  if (isFile) {
    const report = answers[Object.keys(request)[0]];
    if (!report) throw new Error("not in this file");
    return report;
  }
  const response = await fetch("/aperture/request", {
    method: "POST",
    headers: { "content-type": "application/json", "x-aperture-token": token },
    body: JSON.stringify(session ? { request, session } : { request }),
  });
  const report = await response.json();
  if (!response.ok) throw new Error([report.message, ...(report.causes ?? []), ...(report.hints ?? [])].join("; "));
  return report;
}

// Calls back for each event of a session until the returned function is called. A broken stream begins again.
export function follow(session, onEvent) {
  const end = new AbortController();
  const read = async () => {
    const response = await fetch("/aperture/events?session=" + encodeURIComponent(session), {
      headers: { "x-aperture-token": token },
      signal: end.signal,
    });
    if (!response.ok) return;
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const lines = (rest + value).split("\n");
      rest = lines.pop();
      for (const line of lines) if (line.startsWith("data: ")) onEvent(JSON.parse(line.slice(6)));
    }
  };
  const loop = async () => {
    while (!end.signal.aborted) {
      await read().catch(() => {});
      await new Promise((done) => setTimeout(done, 2000));
    }
  };
  if (!isFile) loop();
  return () => end.abort();
}
