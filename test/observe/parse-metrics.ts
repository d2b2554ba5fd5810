export interface Sample {
  name: string
  labels: Record<string, string>
  value: number
}
export interface Family {
  type: string
  help: string
  samples: Sample[]
}

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*/
const LABEL = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\\\|\\"|\\n)*)"/
const VALUE = /^(?:[+-]?(?:\d+(?:\.\d+)?(?:e[+-]?\d+)?|Inf)|NaN)$/
const UNESCAPED: Record<string, string> = { '\\\\': '\\', '\\"': '"', '\\n': '\n' }

/**
 * Parses strict text format 0.0.4: each metric has HELP and TYPE before its samples, all lines of a metric are
 * together, no series is repeated, histograms add up, the last line ends.
 */
export function parseMetrics(text: string): Map<string, Family> {
  if (!text.endsWith('\n')) throw new Error('the last line does not end')
  const families = new Map<string, Family>()
  let current = ''
  for (const line of text.slice(0, -1).split('\n')) {
    const help = /^# HELP (\S+) (.*)$/.exec(line)
    const type = /^# TYPE (\S+) (counter|gauge|histogram)$/.exec(line)
    if (help?.[1]) {
      if (families.has(help[1])) throw new Error(`${help[1]} comes twice`)
      current = help[1]
      families.set(current, { type: '', help: help[2] ?? '', samples: [] })
    } else if (type?.[1]) {
      const family = families.get(type[1])
      if (!family || type[1] !== current || family.samples.length > 0) throw new Error(`TYPE out of place: ${line}`)
      family.type = type[2] ?? ''
    } else {
      const sample = parseSample(line)
      const family = families.get(current)
      const suffixes = family?.type === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']
      if (!family?.type || !suffixes.some((suffix) => sample.name === current + suffix))
        throw new Error(`a sample out of place: ${line}`)
      family.samples.push(sample)
    }
  }
  for (const family of families.values()) check(family)
  return families
}

function parseSample(line: string): Sample {
  const name = NAME.exec(line)?.[0]
  if (!name) throw new Error(`no sample: ${line}`)
  let rest = line.slice(name.length)
  const labels: Record<string, string> = {}
  if (rest.startsWith('{')) {
    rest = rest.slice(1)
    for (let found = LABEL.exec(rest); found; found = LABEL.exec(rest)) {
      const [all, label = '', value = ''] = found
      if (label in labels) throw new Error(`a label comes twice: ${line}`)
      labels[label] = value.replaceAll(/\\[\\"n]/g, (code) => UNESCAPED[code] ?? code)
      rest = rest.slice(all.length).replace(/^,(?=[a-zA-Z_])/, '')
    }
    if (!rest.startsWith('}')) throw new Error(`labels do not end: ${line}`)
    rest = rest.slice(1)
  }
  const value = rest.slice(1)
  if (!rest.startsWith(' ') || !VALUE.test(value)) throw new Error(`no value: ${line}`)
  return { name, labels, value: Number(value.replace('Inf', 'Infinity')) }
}

function check({ type, samples }: Family): void {
  const series = samples.map(({ name, labels }) => JSON.stringify([name, Object.entries(labels).sort()]))
  if (new Set(series).size < series.length) throw new Error('a series comes twice')
  if (type !== 'histogram') return
  for (const { name, labels, value } of samples.filter((sample) => sample.name.endsWith('_count'))) {
    const same = (sample: Sample) => Object.entries(labels).every(([label, text]) => sample.labels[label] === text)
    const buckets = samples.filter((sample) => sample.name === name.replace(/_count$/, '_bucket') && same(sample))
    const counts = buckets.map((bucket) => bucket.value)
    const bounds = buckets.map((bucket) => Number((bucket.labels.le ?? '').replace('+Inf', 'Infinity')))
    const rising = (list: number[]) => list.every((number, index) => index === 0 || number >= (list[index - 1] ?? 0))
    if (!rising(counts) || !rising(bounds) || bounds.at(-1) !== Number.POSITIVE_INFINITY || counts.at(-1) !== value)
      throw new Error(`the buckets of ${name} do not add up`)
  }
}

/** Returns the value of one series; undefined if there is none. */
export const sampleOf = (
  families: Map<string, Family>,
  family: string,
  labels: Record<string, string> = {},
  name = family,
) =>
  families
    .get(family)
    ?.samples.find(
      (sample) =>
        sample.name === name && Object.entries(labels).every(([label, text]) => sample.labels[label] === text),
    )?.value
