// Brings the sounds of a page to life.
import { listen } from "./listen.js";

document.querySelectorAll(".listening").forEach(listen);
