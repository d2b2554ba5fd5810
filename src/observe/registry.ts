type Labels<Label extends string> = Record<Label, string>
/** The values by metric name. Other metrics are omitted. */
type Readings = Record<string, { labels: Record<string, string>; value: number }[]>

/** Maximum series per metric. Further ones are counted as one series whose labels are all `other`. */
const MAX_SERIES = 500

/** Creates the registry of a process's metrics. Its methods throw when two metrics have the same name. */
export function createRegistry() {
  const names = new Set<string>()
  const sections: (() => Promise<string[]>)[] = []
  const claim = (name: string) => {
    if (names.has(name)) throw new Error(`the metric ${name} exists already`)
    names.add(name)
  }
  return {
    counter<Label extends string>(name: string, help: string, labels: readonly Label[]) {
      claim(name)
      const series = createSeries(labels, () => ({ value: 0 }))
      sections.push(async () => [
        ...header(name, help, 'counter'),
        ...series.all().map(([values, { value }]) => line(name, zip(labels, values), value)),
      ])
      return {
        add: (values: Labels<Label>, by = 1): void => {
          if (by > 0) series.of(values).value += by
        },
      }
    },
    histogram<Label extends string>(name: string, help: string, labels: readonly Label[], bounds: readonly number[]) {
      claim(name)
      const series = createSeries(labels, () => ({ buckets: bounds.map(() => 0), sum: 0, count: 0 }))
      sections.push(async () => [
        ...header(name, help, 'histogram'),
        ...series.all().flatMap(([values, state]) => histogramLines(name, zip(labels, values), bounds, state)),
      ])
      return {
        observe: (values: Labels<Label>, value: number): void => {
          const state = series.of(values)
          const bucket = bounds.findIndex((bound) => value <= bound)
          if (bucket >= 0) state.buckets[bucket] = (state.buckets[bucket] ?? 0) + 1
          state.sum += value
          state.count++
        },
      }
    },
    /** Adds metrics, by name with their help, that are read at each scrape. A scrape omits them if reading fails. */
    gauges(helps: Record<string, string>, read: () => Readings | Promise<Readings>): void {
      for (const name of Object.keys(helps)) claim(name)
      sections.push(async () => {
        const readings = await read()
        return Object.entries(helps).flatMap(([name, help]) => {
          const values = readings[name] ?? []
          if (values.length === 0) return []
          return [
            ...header(name, help, 'gauge'),
            ...values.map(({ labels, value }) => line(name, Object.entries(labels), value)),
          ]
        })
      })
    },
    /** Writes the metrics in the text format of Prometheus (version 0.0.4). */
    render: async (): Promise<string> => {
      const parts = await Promise.all(sections.map((section) => section().catch(() => [])))
      return `${parts.flat().join('\n')}\n`
    },
  }
}

export type Registry = ReturnType<typeof createRegistry>

/** Keeps the state of each series of a metric, in the order of appearance. */
function createSeries<Label extends string, State>(labels: readonly Label[], fresh: () => State) {
  const states = new Map<string, { values: string[]; state: State }>()
  const stateOf = (values: string[]): State => {
    // Values come from lists of ours, which have no line feeds.
    const key = values.join('\n')
    const existing = states.get(key)
    if (existing) return existing.state
    if (states.size >= MAX_SERIES && values.some((value) => value !== OTHER)) return stateOf(values.map(() => OTHER))
    const state = fresh()
    states.set(key, { values, state })
    return state
  }
  return {
    of: (values: Labels<Label>): State => stateOf(labels.map((label) => values[label])),
    all: (): [string[], State][] => [...states.values()].map(({ values, state }) => [values, state]),
  }
}
const OTHER = 'other'

type Pairs = readonly (readonly [string, string])[]
const zip = (labels: readonly string[], values: readonly string[]): Pairs =>
  labels.map((label, index) => [label, values[index] ?? ''] as const)

function histogramLines(
  name: string,
  labels: Pairs,
  bounds: readonly number[],
  state: { buckets: readonly number[]; sum: number; count: number },
): string[] {
  let below = 0
  const buckets = bounds.map((bound, index) => {
    below += state.buckets[index] ?? 0
    return line(`${name}_bucket`, [...labels, ['le', String(bound)]], below)
  })
  return [
    ...buckets,
    line(`${name}_bucket`, [...labels, ['le', '+Inf']], state.count),
    line(`${name}_sum`, labels, state.sum),
    line(`${name}_count`, labels, state.count),
  ]
}

const header = (name: string, help: string, type: string) => [
  `# HELP ${name} ${help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}`,
  `# TYPE ${name} ${type}`,
]

function line(name: string, labels: Pairs, value: number): string {
  const pairs = labels.map(([label, text]) => `${label}="${escapeLabel(text)}"`)
  return `${name}${pairs.length > 0 ? `{${pairs.join(',')}}` : ''} ${value}`
}

const escapeLabel = (text: string) =>
  text.toWellFormed().replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')

/** Handles `GET /metrics`; another path is 404, another method 405. */
export const metricsHandler =
  (registry: Registry) =>
  async (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url)
    if (pathname !== '/metrics') return new Response('Not Found\n', { status: 404 })
    if (request.method !== 'GET')
      return new Response('Method Not Allowed\n', { status: 405, headers: { allow: 'GET' } })
    return new Response(await registry.render(), {
      headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8', 'cache-control': 'no-store' },
    })
  }
