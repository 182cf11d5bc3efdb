// Rewards of one group on a line, from the lowest to the highest: shows at a glance whether the answers differ.

const [WIDTH, HEIGHT, EDGE] = [110, 16, 5];

export function RewardDots({ rewards, label }: { rewards: readonly number[]; label: string }) {
  if (rewards.length === 0) return <span class="muted">–</span>;
  const [low, high] = [Math.min(0, ...rewards), Math.max(1, ...rewards)];
  const x = (reward: number) => EDGE + ((reward - low) / (high - low)) * (WIDTH - 2 * EDGE);
  return (
    <svg class="dots" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} width={WIDTH} height={HEIGHT} role="img" aria-label={label}>
      <line x1={EDGE} x2={WIDTH - EDGE} y1={HEIGHT / 2} y2={HEIGHT / 2} />
      {rewards.map((reward) => (
        <circle cx={x(reward)} cy={HEIGHT / 2} r="3.5" />
      ))}
    </svg>
  );
}
