// Brings the maps of a page to life.
import { carried } from "./elements.js";
import { HeatMap } from "./map.js";
import { Reel } from "./reel.js";

document.querySelectorAll(".seqloom-map:not([data-ready])").forEach((root) => {
  root.dataset.ready = "";
  const data = carried(root);
  root.heatMap = new HeatMap(root, data);
  root.querySelectorAll(".reel").forEach((one, index) => {
    const reel = new Reel(one, root.heatMap, data.reels[index]);
    for (const kind of ["seqloom-point", "seqloom-choose"]) root.addEventListener(kind, () => reel.follow(root.heatMap.row));
  });
});
