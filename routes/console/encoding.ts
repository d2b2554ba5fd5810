import type { ConsoleFile } from '../../src/data/console-files.ts'

type Encoding = 'br' | 'gzip'

/** The stored form of a file that a client likes best: `Accept-Encoding` by its weights, brotli where they are equal. */
export function chooseEncoding(file: ConsoleFile, accepted: string): Encoding | null {
  const weights = readWeights(accepted)
  const weightOf = (name: Encoding) => (file[name] ? (weights.get(name) ?? weights.get('*') ?? 0) : 0)
  const best = weightOf('br') >= weightOf('gzip') ? 'br' : 'gzip'
  return weightOf(best) > 0 ? best : null
}

/** True when `Accept` asks for a page, as browsers do when somebody goes to an address. */
export const wantsPage = (accept: string): boolean => (readWeights(accept).get('text/html') ?? 0) > 0

/** The entries of a header with weights: `br;q=0.5, gzip`. One without a weight has 1. */
function readWeights(header: string): Map<string, number> {
  const entries = header.split(',').map((entry): [string, number] => {
    const [name = '', ...parameters] = entry.split(';').map((part) => part.trim().toLowerCase())
    const weight = parameters.find((parameter) => parameter.startsWith('q='))
    return [name, weight === undefined ? 1 : Number(weight.slice(2)) || 0]
  })
  return new Map(entries)
}
