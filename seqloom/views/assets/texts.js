// Brings the shaded texts of a page to life.
import { carried } from "./elements.js";
import { ShadedText } from "./language.js";

document.querySelectorAll(".seqloom-text").forEach((root) => new ShadedText(root, carried(root)));
