#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tables and plots of what `run` has found.

Usage: report.py RESULTS FOLDER

Prints the tables as Markdown, and writes predicted.png, completion.svg and inside.png to FOLDER. Needs matplotlib
(Debian: python3-matplotlib).
"""
import collections
import os
import statistics
import sys

import matplotlib
matplotlib.use("agg")
import matplotlib.pyplot as plot  # noqa: E402: after the choice of the backend

SENDINGS = ("in_turn", "arrived", "at_once")
DRAWN = ("NTSL", "binomial_tree", "flattree", "ompi_pipeline", "scatter_rdb_allgather")  # run on every platform
DOTS = 110  # an inch
SAME = 1.01  # two simulated times that differ by no more are a tie
matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "plexus", "font.size": 9, "axes.grid": True,
                            "grid.alpha": 0.3, "path.simplify": True})
Whole = collections.namedtuple("Whole", "hosts clusters seed choice sending spacing bytes rule chosen after overlap "
                                        "simulated")
Inside = collections.namedtuple("Inside", "hosts clusters seed choice sending bytes members pattern chosen predicted "
                                          "simulated")
Smpi = collections.namedtuple("Smpi", "hosts clusters seed order algorithm bytes simulated")


class Results:
    def __init__(self, folder):
        self.whole, self.inside, self.smpi = [], [], []
        self.blind, self.plans, self.acquired, self.cut = {}, [], [], []
        for name in sorted(os.listdir(folder)):
            if not name.endswith(".part"):
                with open(os.path.join(folder, name)) as file:
                    self.read(name, [line.split() for line in file])

    def read(self, name, lines):
        platform, _, *rest = name.split(".")
        where = tuple(map(int, platform.split("-")))
        choice = rest[0]
        for kind, *words in filter(None, lines):
            if kind == "whole":
                sending, spacing, size, rule, chosen = words[:5]
                self.whole.append(Whole(*where, choice, sending, spacing, int(size), rule, chosen == "1",
                                        *map(float, words[5:])))
            elif kind == "inside":
                sending, size, members, pattern, chosen = words[:5]
                self.inside.append(Inside(*where, choice, sending, int(size), int(members), pattern.split("/")[0],
                                          chosen == "1", *map(float, words[5:])))
            elif kind == "blind":
                self.blind[where + (words[0], int(words[1]), words[2])] = float(words[3])
            elif kind == "smpi":
                self.smpi.append(Smpi(*where, rest[0], rest[1], int(words[0]), float(words[1])))
            elif kind == "plan":
                self.plans.append((where, words[0], words[1], int(words[2]), float(words[3]), float(words[4]),
                                   words[5:]))
            elif kind == "acquire":
                self.acquired.append((where, words[0], choice, float(words[1])))
            elif kind == "ended" and words[:2] != ["exit", "0"]:
                self.cut.append((name, " ".join(words)))


def quantile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def percent(value):
    return f"{round(100 * value, 1) + 0:.1f} %"  # no -0.0


def spread(values, digits):
    return [len(values)] + [f"{value:.{digits}f}" for value in (statistics.median(values), min(values), max(values))]


def size_name(size):
    return f"{size // 1048576} MiB" if size >= 1048576 else f"{size // 1024} KiB"


def table(head, rows):
    print("| " + " | ".join(head) + " |")
    print("| " + " | ".join("---" if at == 0 else "---:" for at in range(len(head))) + " |")
    for row in rows:
        print("| " + " | ".join(map(str, row)) + " |")
    print()


def error(row, predicted):
    return abs(predicted - row.simulated) / row.simulated


def errors(results):
    print("### Predicted against simulated completion\n")
    groups = collections.defaultdict(list)
    for row in results.whole:
        if row.choice == "plogp":
            groups[(row.sending, row.spacing, row.hosts)].append(row)
    rows = []
    for (sending, spacing, hosts), members in sorted(groups.items()):
        chosen = [error(row, row.after) for row in members if row.chosen]
        every = [error(row, row.after) for row in members]
        rows.append((f"`{sending}`, spacing of the {spacing}", f"{hosts:,}", len(chosen),
                     percent(statistics.median(chosen)), percent(quantile(chosen, 0.9)), percent(max(chosen)),
                     len(every), percent(statistics.median(every)), percent(quantile(every, 0.9))))
    table(("sending", "hosts", "chosen", "median", "90 %", "most", "all schedules", "median", "90 %"), rows)


def by_size(results):
    print("### The same of chosen schedules, by size\n")
    groups = collections.defaultdict(list)
    for row in results.whole:
        if row.choice == "plogp" and row.chosen:
            groups[(row.sending, row.spacing, row.bytes)].append((row.after - row.simulated) / row.simulated)
    rows = [(f"`{sending}`, {spacing}", size_name(size), len(values), percent(statistics.median(values)),
             percent(min(values)), percent(max(values)))
            for (sending, spacing, size), values in sorted(groups.items())]
    table(("sending, spacing", "size", "broadcasts", "median of (predicted - simulated) / simulated", "least", "most"),
          rows)


def ranking(results):
    print("### The chosen schedule among those that were simulated\n")
    groups = collections.defaultdict(list)
    for row in results.whole:
        if row.choice == "plogp":
            groups[row[:7]].append(row)
    summary = collections.defaultdict(list)
    for key, rows in groups.items():
        if len(rows) < 3:
            continue
        chosen = next(row.simulated for row in rows if row.chosen)
        flat = [row.simulated for row in rows if row.rule == "flat"]
        summary[(key[4], key[5], key[0])].append((chosen / min(row.simulated for row in rows),
                                                  flat[0] / chosen if flat else None))
    lines = []
    for (sending, spacing, hosts), values in sorted(summary.items()):
        regret = [value for value, _ in values]
        flat = [value for _, value in values if value]
        lines.append((f"`{sending}`, {spacing}", f"{hosts:,}", f"{sum(value <= SAME for value in regret)} of {len(regret)}",
                      percent(statistics.median(regret) - 1), percent(max(regret) - 1),
                      f"{statistics.median(flat):.1f}" if flat else "-"))
    table(("sending, spacing", "hosts", "chosen is best (within 1 %)", "median regret", "most", "flat / chosen, median"),
          lines)


def spacings(results):
    print("### Chosen by the port's spacing against chosen by the link's (`at_once`, simulated)\n")
    taken = {}
    for row in results.whole:
        if row.choice == "plogp" and row.sending == "at_once" and row.chosen:
            taken.setdefault((row.hosts, row.clusters, row.seed, row.bytes), {})[row.spacing] = row.simulated
    groups = collections.defaultdict(list)
    for key, values in taken.items():
        if len(values) == 2:
            groups[key[3]].append(values["link"] / values["port"])
    table(("size", "platforms", "link / port, median", "least", "most"),
          [(size_name(size), *spread(values, 2)) for size, values in sorted(groups.items())])


def sharing(results):
    print("### What shared ports cost: the plan carried out `at_once` against `in_turn`\n")
    groups = collections.defaultdict(list)
    for row in results.whole:
        if row.choice == "plogp" and row.sending == "at_once" and row.spacing == "link" and row.chosen:
            other = chosen_time(results, row[:3], "in_turn", row.bytes)
            if other:
                groups[row.bytes].append(row.simulated / other)
    table(("size", "platforms", "at_once / in_turn, median", "least", "most"),
          [(size_name(size), *spread(values, 2)) for size, values in sorted(groups.items())])


def chosen_time(results, where, sending, size):
    for row in results.whole:
        if (row.hosts, row.clusters, row.seed) == where and row.sending == sending and row.bytes == size and row.chosen \
                and row.spacing == "link" and row.choice == "plogp":
            return row.simulated
    return None


def against_smpi(results):
    print("### SMPI's broadcasts against the plan\n")
    groups = collections.defaultdict(list)
    for row in results.smpi:
        groups[(row.hosts, row.clusters, row.bytes, row.seed)].append(row)
    merged = collections.defaultdict(list)
    for (hosts, clusters, size, seed), rows in groups.items():
        for sending in ("at_once", "arrived"):
            plan = chosen_time(results, (hosts, clusters, seed), sending, size)
            if plan is None:
                continue
            of = {(row.order, row.algorithm): row.simulated for row in rows}
            best = min(of, key=of.get)
            merged[(hosts, clusters, size, sending)].append(
                (plan, of[best] / plan, f"{best[1]}, {best[0]}",
                 *(of.get((order, "binomial_tree"), 0) / plan for order in ("by_cluster", "scattered"))))
    lines = []
    for (hosts, clusters, size, sending), values in sorted(merged.items()):
        middle = [statistics.median(value[at] for value in values) for at in (0, 1, 3, 4)]
        names = collections.Counter(value[2] for value in values).most_common(1)[0][0]
        lines.append((f"{hosts:,} in {clusters}", size_name(size), f"`{sending}`", len(values), f"{middle[0] * 1e3:.3g} ms",
                      f"{middle[1]:.1f}", f"`{names.split(',')[0]}`,{names.split(',')[1].replace('_', ' ')}",
                      f"{middle[2]:.1f}", f"{middle[3]:.1f}"))
    table(("hosts in clusters", "size", "sending", "seeds", "plan", "best of SMPI / plan", "most often",
           "binomial by cluster / plan", "binomial scattered / plan"), lines)


def ratios(results):
    print("### Blind binomial trees of Plexus, over all hosts, against the plan\n")
    groups = collections.defaultdict(list)
    for (hosts, clusters, seed, sending, size, order), time in results.blind.items():
        plan = chosen_time(results, (hosts, clusters, seed), sending, size)
        if plan:
            groups[(sending, size, order)].append(time / plan)
    table(("sending", "size", "order", "platforms", "binomial / plan, median", "least", "most"),
          [(f"`{sending}`", size_name(size), order.replace("_", " "), *spread(values, 1))
           for (sending, size, order), values in sorted(groups.items())])


def inside(results):
    print("### Inside the largest cluster alone\n")
    patterns = collections.defaultdict(list)
    groups = collections.defaultdict(list)
    for row in results.inside:
        if row.choice != "plogp":
            continue
        patterns[(row.pattern, row.sending)].append((row.predicted - row.simulated) / row.simulated)
        groups[(row.sending, row.hosts, row.clusters, row.seed, row.bytes)].append(row)
    names = sorted({pattern for pattern, _ in patterns})
    table(("pattern", *(text for sending in SENDINGS for text in (f"`{sending}`, median", "least", "most"))),
          [(name, *(text for sending in SENDINGS for values in [patterns[(name, sending)]]
                    for text in ((percent(statistics.median(values)), percent(min(values)), percent(max(values)))
                                 if values else ("-",) * 3))) for name in names])
    lines = []
    for sending in SENDINGS:
        regret = [next(row.simulated for row in rows if row.chosen) / min(row.simulated for row in rows)
                  for key, rows in groups.items() if key[0] == sending]
        if regret:
            lines.append((f"`{sending}`", f"{sum(value <= SAME for value in regret)} of {len(regret)}",
                          percent(statistics.median(regret) - 1), percent(max(regret) - 1)))
    table(("sending", "chosen pattern is best (within 1 %)", "median regret", "most"), lines)


def judged(results):
    print("### Models chosen by their errors at the message's size, instead of pLogP\n")
    lines = []
    for row in results.whole:
        if row.choice == "judged" and row.chosen:
            other = chosen_time(results, (row.hosts, row.clusters, row.seed), row.sending, row.bytes)
            if row.spacing == "link":
                lines.append((f"`{row.sending}`", size_name(row.bytes), f"{row.after * 1e3:.3g} ms",
                              f"{row.simulated * 1e3:.3g} ms", f"{other * 1e3:.3g} ms" if other else "-"))
    table(("sending", "size", "predicted", "simulated", "simulated, of pLogP's choice"), lines)


def planning(results):
    print("### How long planning took (wall clock, on a busy machine)\n")
    groups = collections.defaultdict(list)
    for where, sending, _, size, patterns, schedules, _ in results.plans:
        groups[(where[0], where[1], size)].append((patterns, schedules))
    table(("hosts in clusters", "size", "patterns of all clusters, most", "schedules by all rules, most"),
          [(f"{hosts:,} in {clusters}", size_name(size), f"{max(p for p, _ in values):.3f} s",
            f"{1e3 * max(s for _, s in values):.2f} ms") for (hosts, clusters, size), values in sorted(groups.items())])


def not_ended(results):
    print("### Jobs that did not end\n")
    for name, how in results.cut:
        print(f"* `{name}`: {how} s")


def draw_predicted(results, folder):
    figure, axes = plot.subplots(figsize=(5.2, 4.2))
    for sending, spacing, mark, colour in (("arrived", "link", "o", "C0"), ("in_turn", "link", "D", "C3"),
                                           ("at_once", "link", "s", "C1"), ("at_once", "port", "^", "C2")):
        for chosen in (False, True):
            rows = [row for row in results.whole if row.choice == "plogp" and row.sending == sending and
                    row.spacing == spacing and row.chosen == chosen]
            axes.plot([row.simulated for row in rows], [row.after for row in rows], mark, color=colour,
                      markersize=5 if chosen else 3, markerfacecolor=colour if chosen else "none",
                      markeredgewidth=0.6, label=f"{sending}, spacing of the {spacing}" if chosen else None)
    bounds = [min(row.simulated for row in results.whole) / 1.3, max(row.simulated for row in results.whole) * 1.3]
    axes.plot(bounds, bounds, "-", color="black", linewidth=0.8)
    axes.set(xscale="log", yscale="log", xlim=bounds, ylim=bounds, xlabel="simulated completion [s]",
             ylabel="predicted completion [s]", title="Predicted and simulated; filled: the chosen schedule")
    axes.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(os.path.join(folder, "predicted.png"), dpi=DOTS)  # as SVG, each point takes 150 B


def curves_of(results, where):
    curves = collections.defaultdict(dict)
    for row in results.smpi:
        if row[:3] != where or row.algorithm not in DRAWN:
            continue
        if row.order == "by_cluster":
            curves["SMPI " + row.algorithm][row.bytes] = row.simulated
        elif row.algorithm == "binomial_tree":
            curves["SMPI binomial_tree, scattered"][row.bytes] = row.simulated
    for sending in SENDINGS:
        for size in (1024, 65536, 1048576, 4194304):
            if (time := chosen_time(results, where, sending, size)) is not None:
                curves[f"Plexus, {sending}"][size] = time
    return curves


def draw_completion(results, folder):
    figure, all_axes = plot.subplots(1, 3, figsize=(9.6, 3.8), sharey=True)
    lines = {}
    for axes, clusters in zip(all_axes, (10, 30, 100)):
        curves = curves_of(results, (1000, clusters, 1))
        for at, (name, values) in enumerate(sorted(curves.items())):
            ours = name.startswith("Plexus")
            lines[name], = axes.plot(sorted(values), [values[size] for size in sorted(values)],
                                     "o-" if ours else "x--", color=lines[name].get_color() if name in lines else f"C{at}",
                                     linewidth=1.8 if ours else 0.9, markersize=4)
        axes.set(xscale="log", yscale="log", xlabel="size [B]", title=f"1,000 hosts in {clusters} clusters")
        axes.set_xticks([1024, 65536, 1048576, 4194304], ["1 Ki", "64 Ki", "1 Mi", "4 Mi"])
        axes.minorticks_off()
    all_axes[0].set_ylabel("simulated completion [s]")
    figure.legend(lines.values(), lines.keys(), loc="lower center", ncol=3, fontsize=8)
    figure.tight_layout(rect=(0, 0.2, 1, 1))
    figure.savefig(os.path.join(folder, "completion.svg"), metadata={"Date": None})


def draw_inside(results, folder):
    figure, all_axes = plot.subplots(1, 3, figsize=(9.6, 3.2), sharey=True)
    for axes, sending in zip(all_axes, SENDINGS):
        names = sorted({row.pattern for row in results.inside})
        for at, name in enumerate(names):
            values = [row.simulated / row.predicted for row in results.inside
                      if row.pattern == name and row.sending == sending and row.choice == "plogp"]
            axes.plot([at] * len(values), values, "o", color="C0", markersize=4, markerfacecolor="none",
                      markeredgewidth=0.6)
        axes.axhline(1, color="black", linewidth=0.8)
        axes.set_xticks(range(len(names)), names, rotation=45, ha="right")
        axes.set(title=f"inside one cluster, {sending}")
    all_axes[0].set_ylabel("simulated / predicted")
    figure.tight_layout()
    figure.savefig(os.path.join(folder, "inside.png"), dpi=DOTS)


def main(source, folder):
    results = Results(source)
    for part in (errors, by_size, ranking, sharing, spacings, against_smpi, ratios, inside, judged, planning, not_ended):
        part(results)
    for draw in (draw_predicted, draw_completion, draw_inside):
        draw(results, folder)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2])
