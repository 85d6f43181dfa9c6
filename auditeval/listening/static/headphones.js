// Plays one sound at a time for the page that checks headphones.

const player = new Audio();
for (const button of document.querySelectorAll("button.sound")) {
  button.addEventListener("click", () => {
    player.src = button.dataset.sound;
    player.play();
  });
}
