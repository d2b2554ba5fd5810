import type { ConsoleFile } from '../../src/data/console-files.ts'

type Encoding = 'br' | 'gzip'

/** Chooses the stored encoding by the weights of `Accept-Encoding`, preferring brotli. */
export function chooseEncoding(file: ConsoleFile, accepted: string): Encoding | null {
  const weights = readWeights(accepted)
  const weightOf = (name: Encoding) => (file[name] ? (weights.get(name) ?? weights.get('*') ?? 0) : 0)
  const best = weightOf('br') >= weightOf('gzip') ? 'br' : 'gzip'
  return weightOf(best) > 0 ? best : null
}

/** True if `Accept` asks for a page, as browsers do when they navigate. */
export const wantsPage = (accept: string): boolean => (readWeights(accept).get('text/html') ?? 0) > 0

/** Parses a header with weights: `br;q=0.5, gzip`. The default weight is 1. */
function readWeights(header: string): Map<string, number> {
  const entries = header.split(',').map((entry): [string, number] => {
    const [name = '', ...parameters] = entry.split(';').map((part) => part.trim().toLowerCase())
    const weight = parameters.find((parameter) => parameter.startsWith('q='))
    return [name, weight === undefined ? 1 : Number(weight.slice(2)) || 0]
  })
  return new Map(entries)
}
