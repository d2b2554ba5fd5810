/** `Platform/<YYYY-MM-DD_HHMMSS>-<4 hex>` in UTC. */
export function branchName(now: Date): string {
  const [day = '', time = ''] = now.toISOString().split('T')
  return `Platform/${day}_${time.slice(0, 8).replaceAll(':', '')}-${crypto.randomUUID().slice(0, 4)}`
}
