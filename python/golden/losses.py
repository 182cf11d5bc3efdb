"""The losses of the golden tests, written as plainly as possible. Inputs are `[trained]`, log-probabilities in nats."""

import torch


def cross_entropy(new: torch.Tensor) -> torch.Tensor:
    """Mean over the trained tokens."""
    return -new.mean()


def policy_loss(
    new: torch.Tensor,
    old_logprobs: torch.Tensor,
    advantages: torch.Tensor,
    weights: torch.Tensor,
    *,
    ppo: bool,
    epsilon: float,
    epsilon_high: float,
) -> torch.Tensor:
    """CISPO (arXiv:2506.13585 eq. 4-5) or PPO (arXiv:1707.06347 eq. 7), weighted, divided by the number of tokens.

    A token whose old log-probability is NaN counts as on-policy: its ratio is 1.
    """
    old = torch.where(old_logprobs.isnan(), new.detach(), old_logprobs)
    ratio = torch.exp(new - old)
    bounded = torch.clamp(ratio, 1 - epsilon, 1 + epsilon_high)
    if ppo:
        per_token = -torch.minimum(ratio * advantages, bounded * advantages)
    else:
        per_token = -bounded.detach() * advantages * new
    return (per_token * weights).sum() / new.numel()
