#!/usr/bin/env python3
"""Draws docs/images/demo.svg, the picture of README.md: the energy of each night of `zeus demo --quick`, with Zeus and by the default,
which the demo really runs beside it. It shows itself light or dark as the reader's browser does. Prints its caption.

  draw_story.py ZEUS
"""

import json
import pathlib
import subprocess
import sys
import tempfile

PICTURE = pathlib.Path(__file__).resolve().parent.parent / "docs" / "images" / "demo.svg"
WIDTH, HEIGHT, EDGE, LEFT, TOP, BOTTOM = 560, 440, 8, 40, 178, 384  # narrow, so that its words can be read on a telephone
STYLE = """
    text { font-family: system-ui, sans-serif; font-size: 19px; fill: #1f2328 }
    .big { font-size: 26px; font-weight: 700 } .small { font-size: 18px; fill: #59636e } .mark { stroke: #59636e; stroke-dasharray: 5 4 }
    .page { fill: #ffffff } .default { fill: #c9ced6 } .zeus { fill: #1a7f37 } .axis { stroke: #8c959f }
    @media (prefers-color-scheme: dark) {
      text { fill: #f0f6fc } .small { fill: #9198a1 } .page { fill: #0d1117 } .default { fill: #4b535d } .zeus { fill: #3fb950 }
    }"""


def less(saved: float, default: float) -> str:
    return f"{100 * saved / default:.1f} % less"


def drawn(demo: dict) -> tuple[str, str]:
    nights, last, whole = demo["nights"], demo["savings_of_last_nights"], demo["savings"]
    top = max(max(night["energy_j"], night["default_energy_j"]) for night in nights)
    step = (WIDTH - LEFT - 12) / len(nights)

    def bar(number: int, joules: float, share: float, kind: str) -> str:
        height = (BOTTOM - TOP) * joules / top
        return (f'<rect class="{kind}" x="{LEFT + step * (number + (1 - share) / 2):.1f}" y="{BOTTOM - height:.1f}" '
                f'width="{step * share:.1f}" height="{height:.1f}"/>')

    bars = [bar(number, night[key], share, kind) for number, night in enumerate(nights)
            for key, share, kind in (("default_energy_j", 0.9, "default"), ("energy_j", 0.55, "zeus"))]
    energy = less(last["energy_j"], last["energy_of_default_j"])
    time = less(last["time_s"], last["time_of_default_s"])
    all_energy = less(whole["energy_j"], whole["energy_of_default_j"])
    wrong = LEFT + step * (demo["labels_went_wrong"] - 1)
    ticks = "".join(f'<text class="small" text-anchor="middle" x="{LEFT + step * (night - 0.5):.1f}" y="{BOTTOM + 22}">{night}</text>'
                    for night in (1, 10, 20, 30) if night <= len(nights))
    levels = "".join(f'<text class="small" text-anchor="end" x="{LEFT - 6}" y="{BOTTOM - (BOTTOM - TOP) * mega * 1e6 / top + 6:.1f}">{mega:g}</text>'
                     for mega in (0, 1) if mega * 1e6 <= top)
    picture = f"""<svg xmlns="http://www.w3.org/2000/svg" width="640" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">
  <title>The energy of a training that recurs every night: {energy} energy with Zeus than by the default</title>
  <style>{STYLE}
  </style>
  <rect class="page" width="{WIDTH}" height="{HEIGHT}"/>
  <text class="big" x="{EDGE}" y="34">{energy} energy, {time} time</text>
  <text x="{EDGE}" y="64">in the last {last["recurrences"]} of {len(nights)} nightly trainings;</text>
  <text x="{EDGE}" y="90">{all_energy} energy over all of them</text>
  <rect class="default" x="{EDGE}" y="108" width="16" height="16"/><text class="small" x="{EDGE + 22}" y="122">what its author chose</text>
  <rect class="zeus" x="{EDGE + 236}" y="108" width="16" height="16"/><text class="small" x="{EDGE + 258}" y="122">with Zeus, tries included</text>
  <text class="small" x="{EDGE}" y="{TOP - 16}">MJ</text>{levels}{ticks}
  <text class="small" text-anchor="middle" x="{(LEFT + WIDTH) / 2:.0f}" y="{BOTTOM + 46}">night</text>
  {"".join(bars)}
  <line class="axis" x1="{LEFT}" x2="{WIDTH - 12}" y1="{BOTTOM}" y2="{BOTTOM}"/>
  <line class="mark" x1="{wrong:.1f}" x2="{wrong:.1f}" y1="{TOP - 24}" y2="{BOTTOM}"/>
  <text class="small" x="{wrong + 6:.1f}" y="{TOP - 10}">the data change</text>
</svg>
"""
    return picture, (f"A training that recurs every night, on a virtual V100: {energy} energy and {time} time than what its author chose "
                     f"in the last {last['recurrences']} nights, {all_energy} energy over all {len(nights)}")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "demo.json"
        subprocess.run([sys.argv[1], "demo", "--quick", "--quiet", "--json", path, "--html", path.with_suffix(".html")], check=True,
                       stdout=subprocess.DEVNULL)
        picture, caption = drawn(json.loads(path.read_text(encoding="utf-8")))
    PICTURE.write_text(picture, encoding="utf-8")
    print(caption)


if __name__ == "__main__":
    main()
