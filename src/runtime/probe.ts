/**
 * The health check of an image: `probe.ts <path> <variable> <port>...` asks this machine for the path at the port that
 * the variable names, or else at each given one. It ends with code 0 if one of them answers with success, otherwise 1.
 */
const [path = '/', variable = '', ...usual] = process.argv.slice(2)
const named = process.env[variable]?.trim()
const ask = async (port: string): Promise<void> => {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { signal: AbortSignal.timeout(4_000) })
  await response.body?.cancel()
  if (!response.ok) throw new Error(`${port}${path} answered ${response.status}`)
}

try {
  await Promise.any((named ? [named] : usual).map(ask))
  process.exit(0)
} catch {
  process.exit(1)
}

export {}
