// Legends that hide and show, and numbers under the pointer. Tables and curves are there without it.
"use strict";
const charts = JSON.parse(document.getElementById("data").textContent);
const { width, left, right } = charts.frame;

for (const section of document.querySelectorAll(".game")) {
  for (const button of section.querySelectorAll(".legend button")) {
    button.disabled = false;
    button.addEventListener("click", () => {
      const shown = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", String(shown));
      for (const series of section.querySelectorAll(`g[data-series="${button.dataset.series}"]`)) {
        series.classList.toggle("off", !shown);
      }
    });
  }
}

function said(number) {
  return Number(number.toPrecision(4)).toLocaleString("en");
}

// The moment of a series that is nearest to a step.
function nearest(series, step) {
  let best = 0;
  series.step.forEach((each, at) => {
    if (Math.abs(each - step) < Math.abs(series.step[best] - step)) best = at;
  });
  return best;
}

for (const figure of document.querySelectorAll("figure[id]")) {
  const chart = charts.charts[figure.id];
  const svg = figure.querySelector("svg");
  const here = figure.querySelector(".here");
  const readout = figure.querySelector(".readout");
  const moved = (event) => {
    const box = svg.getBoundingClientRect();
    const at = ((event.clientX - box.left) / box.width) * width;
    const step = Math.min(1, Math.max(0, (at - left) / (right - left))) * chart.steps;
    const shown = chart.series.filter((one) => !svg.querySelector(`g[data-series="${one.number}"].off`));
    if (!shown.length) return;
    const moment = shown[0].step[nearest(shown[0], step)];
    const x = left + (moment / chart.steps) * (right - left);
    here.setAttribute("transform", `translate(${x} 0)`);
    here.style.visibility = "visible";
    const numbers = shown.map((one) => {
      const at = nearest(one, moment);
      const between = one.low ? ` [${said(one.low[at])}, ${said(one.high[at])}]` : "";
      return `${one.agent} ${said(one.line[at])}${between}`;
    });
    readout.textContent = `step ${moment.toLocaleString("en")}: ${numbers.join("; ")}`;
  };
  svg.addEventListener("pointermove", moved);
  svg.addEventListener("pointerdown", moved);
  svg.addEventListener("pointerleave", (event) => {
    // A finger leaves when it is lifted: whoever has tapped wants to read.
    if (event.pointerType === "touch") return;
    here.style.visibility = "hidden";
    readout.textContent = "";
  });
}
document.documentElement.dataset.ready = "true";
