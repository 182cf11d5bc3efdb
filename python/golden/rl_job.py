"""Section 5 of the training reference on RL jobs, written as plainly as possible, in float64.

Tokens are stored sequence by sequence in one list; `sequence` is the sequence of each. No packing, no sharing, no masks: every
sequence is computed alone.
"""

import math

import torch


def advantages_and_weights(groups: list[dict], config: dict) -> list[dict | None]:
    """Returns, per trajectory in order, advantage and weight of each trained token; None if the trajectory is not trained."""
    scale = config.get("scale_rewards", config.get("normalize_advantages"))
    raw = []
    for group in groups:
        rewards = [trajectory["reward"] for trajectory in group]
        mean = sum(rewards) / len(rewards)
        deviation = math.sqrt(sum((r - mean) ** 2 for r in rewards) / len(rewards))
        for trajectory in group:
            advantage = trajectory["reward"] - mean
            if scale is not False:
                advantage /= deviation + 1e-6
            count = sum(len(turn) for history in trajectory["histories"] for turn in history["turns"][::2])
            raw.append(None if advantage == 0 else {"advantage": advantage, "count": count})
    kept = [r for r in raw if r]
    tokens = sum(r["count"] for r in kept)
    for r in kept:
        r["weight"] = 1 / (r["count"] + 1e-6)
    mean_weight = sum(r["weight"] * r["count"] for r in kept) / tokens
    balance = config.get("advantage_balance") or 0
    for r in kept:
        r["weight"] /= mean_weight
        if balance > 0 and r["advantage"] <= 0:
            r["advantage"] *= 1 - balance
        if balance < 0 and r["advantage"] >= 0:
            r["advantage"] *= 1 + balance
    size = sum(abs(r["advantage"]) * r["weight"] * r["count"] for r in kept) / tokens
    for r in kept:
        r["advantage"] = 0 if size == 0 else r["advantage"] / size
    return [None if r is None or r["advantage"] == 0 else r for r in raw]


def row_loss(new, entropy, sequence, advantage, weight, sampled, start, reference, config):
    """All `[trained]`; `sampled` is NaN where the client sent none. Returns the loss and the metrics of a gradient step."""
    ppo = config.get("ppo") or config.get("loss_fn") == "ppo"
    epsilon = config.get("epsilon")
    epsilon = (0.2 if ppo else 1.0) if epsilon is None else epsilon
    epsilon_high = config.get("epsilon_high")
    epsilon_high = (epsilon if ppo else 4.0) if epsilon_high is None else epsilon_high
    low, high = 1 - epsilon, 1 + epsilon_high

    def known(logprobs, other):
        return torch.where(logprobs.isnan(), other.detach(), logprobs)

    old = known(start if config.get("precalculate_logprobs") else sampled, new)
    difference = new - old
    token_ratio = difference.exp()
    sequence_ratio = torch.stack([difference[sequence == s].mean() for s in sequence]).exp()
    level = config.get("importance_sampling_level") or "token"
    ratio = {
        "token": token_ratio,
        "sequence": sequence_ratio,
        "average": (token_ratio + sequence_ratio) / 2,
        "geometric_average": (token_ratio * sequence_ratio).sqrt(),
    }[level]
    level_ratio = ratio
    if cap := config.get("max_negative_advantage_importance_sampling_weight"):
        ratio = ratio.clamp(max=cap)
    if config.get("mask_prob_ratio"):
        ratio = torch.where((ratio > low) & (ratio < high), ratio, 0.0)
    if tau := config.get("vendor_k2_tau", config.get("kimi_k2_tau")):
        advantage = advantage - tau * difference.detach()
    metrics = {}
    coefficient = config.get("kl_penalty_coef") or 0
    if coefficient or config.get("kl_penalty_step_lag") is not None:
        source = config.get("kl_penalty_source") or ("sample" if coefficient else "current_learner")
        policy = known(sampled, new) if source == "sample" else new
        divergence = (policy - reference).detach()
        advantage = advantage + coefficient * (divergence.mean() - divergence)
        metrics["kl_policy_ref"] = divergence.mean()
    clipped = ratio.clamp(low, high)
    if ppo:
        loss = -torch.minimum(ratio * advantage, clipped * advantage)
    else:
        loss = -clipped.detach() * advantage * new
    if bound := config.get("truncated_importance_sampling"):
        rho = (start - known(sampled, start)).exp() if config.get("precalculate_logprobs") else ratio
        loss = loss * rho.clamp(max=bound).detach()
    loss = loss * weight
    drift = new - known(sampled, new)
    metrics |= {
        "policy_loss": loss.mean(),
        "entropy": (entropy * weight).mean(),
        "ratio_mean": level_ratio.mean(),
        "ratio_min": level_ratio.min(),
        "ratio_max": level_ratio.max(),
        "clipped_fraction": ((level_ratio < low) | (level_ratio > high)).double().mean(),
        "kl_div": (drift.exp() - 1 - drift).mean(),
        "logprob_difference": drift.abs().mean(),
    }
    return loss.sum() / (loss.numel() + 1e-18), metrics
