// Renews the figures while the page is open, unless somebody is about to type into it.

const SECONDS = 10;

// A link as raters open it, of what the server knows of it.
function complete(main) {
  for (const cell of main.querySelectorAll(".link")) {
    cell.textContent = new URL(cell.textContent, location.origin).href;
  }
  return main;
}

complete(document);
setInterval(async () => {
  if (document.hidden || document.querySelector("main input:focus")) return;
  try {
    const answer = await fetch(location.href);
    if (!answer.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    document.querySelector("main").replaceWith(complete(page.querySelector("main")));
  } catch {
    // The server is down; the next look may find it again.
  }
}, 1000 * SECONDS);
