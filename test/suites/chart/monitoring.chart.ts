import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { readMetrics } from './metrics-of-product.ts'
import { CHART, chartTools, ofKind, render } from './rendered.ts'

/** Labels that the collector of metrics adds to each series. */
const OF_THE_COLLECTOR = new Set(['namespace', 'job', 'pod'])
const metrics = await readMetrics()
const page = await readFile(new URL('../../../docs/operations.md', import.meta.url), 'utf8')

interface Rule {
  alert: string
  expr: string
  labels: { severity: string }
  annotations: { summary: string; action: string }
}
interface Panel {
  title: string
  type: string
  targets?: { expr: string }[]
  gridPos: { x: number; y: number; w: number; h: number }
}

const { groups } = parse(await readFile(join(CHART, 'files/alerts.yaml'), 'utf8')) as { groups: { rules: Rule[] }[] }
const rules = groups.flatMap((group) => group.rules)
const { panels } = JSON.parse(await readFile(join(CHART, 'files/dashboard.json'), 'utf8')) as { panels: Panel[] }
const drawn = panels.filter(({ type }) => type !== 'row')

/** What an expression names that no process gives out: series, and labels of a series or of a grouping. */
function unknownIn(expr: string): string[] {
  const unknown: string[] = []
  const used = new Set<string>()
  for (const [, name = '', matchers = ''] of expr.matchAll(/\b(platform_\w+)(?:\{([^}]*)\})?/g)) {
    const labels = metrics.get(name)
    if (!labels) unknown.push(name)
    for (const label of labels ?? []) used.add(label)
    for (const [, label = ''] of matchers.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g))
      if (!labels?.has(label) && !OF_THE_COLLECTOR.has(label)) unknown.push(`${name}{${label}}`)
  }
  for (const [, grouped = ''] of expr.matchAll(/\b(?:by|on)\s*\(([^)]*)\)/g))
    for (const label of grouped
      .split(',')
      .map((each) => each.trim())
      .filter(Boolean))
      if (!used.has(label) && !OF_THE_COLLECTOR.has(label)) unknown.push(`by (${label})`)
  return unknown
}

describe('metrics', () => {
  it('of the page are those of the code', () => {
    const named = [...page.matchAll(/^\| `(platform_\w+)` \| (counter|gauge|histogram)/gm)].map(([, name]) => name)
    const given = [...metrics.keys()].map((name) => name.replace(/_(bucket|sum|count)$/, ''))
    expect([...new Set(given)].sort()).toEqual(named.sort())
  })

  it.each(rules)('that the alert $alert names exist', ({ expr, labels, annotations }) => {
    expect(expr).toMatch(/platform_/)
    expect(unknownIn(expr)).toEqual([])
    expect(['info', 'warning', 'critical']).toContain(labels.severity)
    expect(annotations).toEqual({ summary: expect.any(String), action: expect.any(String) })
  })

  it.each(drawn)('that the panel "$title" draws exist', ({ targets = [] }) => {
    expect(targets.length).toBeGreaterThan(0)
    for (const { expr } of targets) expect([expr, unknownIn(expr)]).toEqual([expr, []])
  })

  it('by which KEDA scales exist', async () => {
    const [scaled] = ofKind(await render(chartTools().helm, 'keda'), 'ScaledObject')
    const { triggers } = scaled?.spec as { triggers: { metadata: { query: string } }[] }
    const query = triggers[0]?.metadata.query ?? ''
    expect(query).toBe('sum(max by (state) (platform_queue_rounds{namespace="platform",job="acme-platform-metrics"}))')
    expect(unknownIn(query)).toEqual([])
  })

  it('that do not exist would be seen', () => {
    expect(unknownIn('sum by (colour) (rate(platform_rounds_total{state="x"}[5m])) / platform_nothing')).toEqual([
      'platform_rounds_total{state}',
      'platform_nothing',
      'by (colour)',
    ])
  })
})

describe('the dashboard', () => {
  it('draws every metric but the start of processes', () => {
    const text = drawn.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)).join(' ')
    const missing = [...metrics.keys()].filter((name) => !text.includes(name) && !/_(sum|count)$/.test(name))
    expect(missing).toEqual(['platform_start_time_seconds'])
  })

  it('has no two panels in one place', () => {
    for (const [index, { gridPos: a }] of panels.entries())
      for (const { gridPos: b } of panels.slice(index + 1))
        expect(a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h).toBe(false)
  })

  it('and the alerts are in the release as they stand in their files', async () => {
    const manifests = await render(chartTools().helm, 'keda')
    const dashboard = ofKind(manifests, 'ConfigMap').find(({ metadata }) => metadata.name.endsWith('-dashboard'))
    expect(JSON.parse(dashboard?.data?.['platform.json'] ?? '')).toMatchObject({ panels: expect.any(Array) })
    const [alerts] = ofKind(manifests, 'PrometheusRule')
    expect(alerts?.spec.groups).toEqual(groups)
  })
})
