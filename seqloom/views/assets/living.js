// A map with all that is in it, brought to life.
import { InnerLook } from "./inner.js";
import { HeatMap } from "./map.js";
import { Reel } from "./reel.js";

export function enliven(root, data) {
  root.heatMap = new HeatMap(root, data);
  root.querySelectorAll(".reel").forEach((one, index) => {
    const reel = new Reel(one, root.heatMap, data.reels[index]);
    for (const kind of ["seqloom-point", "seqloom-choose"]) root.addEventListener(kind, () => reel.follow(root.heatMap.row));
  });
  root.querySelectorAll(".inside").forEach((one, index) => new InnerLook(one, root.heatMap, data.inside[index]));
  return root.heatMap;
}
