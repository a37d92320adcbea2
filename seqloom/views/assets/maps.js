// Brings the maps of a page to life.
import { carried } from "./elements.js";
import { HeatMap } from "./map.js";

document.querySelectorAll(".seqloom-map:not([data-ready])").forEach((root) => {
  root.dataset.ready = "";
  root.heatMap = new HeatMap(root, carried(root));
});
