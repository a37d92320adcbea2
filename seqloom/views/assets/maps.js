// Brings the maps of a page to life.
import { carried } from "./elements.js";
import { enliven } from "./living.js";

document.querySelectorAll(".seqloom-map:not([data-ready])").forEach((root) => {
  root.dataset.ready = "";
  enliven(root, carried(root));
});
