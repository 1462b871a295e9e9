"""What paper 003 says of its figure 2."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from berth.experiments.experiment import Claim
from berth.experiments.judging import close_ratio, mean_of, verdict, within
from berth.experiments.networks import ABOUT

CLOSE, HIGHEST_CLOSE, ERROR_CLOSE = 0.05, 0.25, 0.1
PAPER = {
    "MOPA": {"mean": 1.14, "quantile": 1.1, "highest": 3.67},
    "SBON": {"mean": 1.29, "quantile": 1.3, "highest": 6.61},
}
PAPER_ERROR_MS = 15.0


def stretch_claims(table: pd.DataFrame, network: str) -> Sequence[Claim]:
    """The claims on the paper's network; their spread is that over draws of nodes."""
    part = table[(table["network"] == network) & table["policy"].isin(PAPER)]
    told = part[~part["failed"]]
    failed = f"{int(part['failed'].sum())} of {len(part)} plans failed"
    values = {policy: told.loc[told["policy"] == policy, "stretch"] for policy in PAPER}
    where = f"on {ABOUT[network]}"
    claims = [_mean_claim(told, policy, f"{where}; {failed}") for policy in PAPER]
    quantiles = {policy: float(found.quantile(0.7)) for policy, found in values.items()}
    ordered = quantiles["MOPA"] < quantiles["SBON"]
    for policy, numbers in PAPER.items():
        share = float((values[policy] < numbers["quantile"]).mean())
        claims.append(
            Claim(
                f"70 % of the graphs have a stretch below {numbers['quantile']} with {policy}",
                f"{numbers['quantile']}",
                f"{quantiles[policy]:.2f} is the 70 % quantile; {share:.0%} of {len(values[policy])} are "
                "below",
                verdict(close_ratio(quantiles[policy], numbers["quantile"], CLOSE), ordered),
                "rule: the quantile is within 5 %, and its distance from 1 within a factor of two; the "
                "order: "
                f"MOPA's is below SBON's; {where}",
            )
        )
    more = quantiles["SBON"] / quantiles["MOPA"] - 1.0
    claims.append(
        Claim(
            "SBON's 70 % quantile is 16 % higher than MOPA's",
            "16 % (its own numbers give 18 %: E3.7)",
            f"{more:.0%}",
            verdict(0.11 <= more <= 0.23, ordered),
            f"rule: within 5 percentage points of 16 or 18 %; {where}",
        )
    )
    highest = {policy: float(found.max()) for policy, found in values.items()}
    for policy, numbers in PAPER.items():
        claims.append(
            Claim(
                f"The highest stretch of {policy}",
                f"{numbers['highest']}",
                f"{highest[policy]:.2f} of {len(values[policy])} graphs",
                verdict(
                    within(highest[policy], numbers["highest"], HIGHEST_CLOSE),
                    highest["MOPA"] < highest["SBON"],
                ),
                "rule: within 25 %, since it is the worst single case of the paper's own nodes; the order: "
                f"MOPA's is lower; {where}",
            )
        )
    return [*claims, _error_claim(told, where)]


def _over_draws(told: pd.DataFrame, policy: str) -> pd.Series[float]:
    means: pd.Series[float] = told[told["policy"] == policy].groupby("draw")["stretch"].mean()
    return means


def _mean_claim(told: pd.DataFrame, policy: str, where: str) -> Claim:
    ours, paper = mean_of(_over_draws(told, policy)), PAPER[policy]["mean"]
    lower = mean_of((_over_draws(told, "SBON") - _over_draws(told, "MOPA")).dropna())
    graphs = int((told["policy"] == policy).sum())
    return Claim(
        f"The mean stretch of {policy}",
        f"{paper}",
        f"{ours.text()} over {ours.draws} draws of nodes, {graphs} graphs",
        verdict(close_ratio(ours.value, paper, CLOSE), lower.surely_positive),
        "rule: within 5 %, and the distance from 1 within a factor of two; the order: MOPA's is lower by "
        "more "
        f"than two standard errors; {where}. Draws of nodes differ, and the paper's nodes are not published",
    )


def _error_claim(told: pd.DataFrame, where: str) -> Claim:
    error = mean_of(2.0 * told.groupby("draw")["coordinate_error_ms"].mean())
    close = within(error.value, PAPER_ERROR_MS, ERROR_CLOSE)
    return Claim(
        "Coordinates miss the measured delays by 15 ms on average",
        f"{PAPER_ERROR_MS:g} ms",
        f"{error.text(1)} ms of a round trip, over {error.draws} draws of nodes",
        verdict(close, close),
        f"rule: within 10 %; {where}. The paper does not say whether delays are one way: read as round "
        "trips, "
        "which is what PlanetLab measures",
    )
