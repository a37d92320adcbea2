// Plays a sound and moves along its spectrogram: a line shows the moment, and the symbol that listened to it last is marked.
export function listen(part) {
  const audio = part.querySelector("audio");
  const drawing = part.querySelector("svg");
  if (!audio || !drawing) return;
  const left = Number(part.dataset.left);
  const width = Number(part.dataset.width);
  const seconds = Number(part.dataset.seconds);
  const moments = part.dataset.moments.split(" ").map(Number);
  const rows = [...drawing.querySelectorAll("[data-index]")];
  const line = document.createElementNS("http://www.w3.org/2000/svg", "line");
  line.setAttribute("class", "line-b");
  line.setAttribute("stroke-width", "1.5");
  line.setAttribute("y1", "40");
  line.setAttribute("y2", String(drawing.viewBox.baseVal.height - 30));
  drawing.append(line);
  const show = () => {
    const x = String(left + (width * Math.min(audio.currentTime, seconds)) / seconds);
    line.setAttribute("x1", x);
    line.setAttribute("x2", x);
    let heard = -1;
    moments.forEach((moment, index) => {
      if (moment <= audio.currentTime && (heard < 0 || moment >= moments[heard])) heard = index;
    });
    rows.forEach((row, index) => row.classList.toggle("now", index === heard && audio.currentTime > 0));
    if (!audio.paused) requestAnimationFrame(show);
  };
  for (const event of ["play", "seeked", "timeupdate"]) audio.addEventListener(event, show);
  drawing.addEventListener("click", (event) => {
    const box = drawing.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * drawing.viewBox.baseVal.width;
    audio.currentTime = Math.max(0, Math.min(1, (x - left) / width)) * seconds;
    if (audio.paused) audio.play().catch(() => {}); // a browser may refuse; its own controls are there too
  });
  show();
}
