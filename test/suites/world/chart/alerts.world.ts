import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { stringify } from 'yaml'
import { CHART, run } from '../../chart/rendered.ts'

const RULES = join(CHART, 'files/alerts.yaml')
const promtool = process.env.WORLD_PROMTOOL ?? ''

/** Series of an hour and what fires at its end: minutes are steps, in the notation of promtool. */
const CASES: { name: string; series: Record<string, string>; fires: string[] }[] = [
  {
    name: 'nothing is wrong',
    series: {
      'platform_build_info{process="core",version="1"}': '1x60',
      'platform_build_info{process="worker",version="1"}': '1x60',
      'platform_queue_rounds{state="waiting"}': '0x60',
      platform_queue_oldest_waiting_seconds: '20x60',
      'platform_rounds_total{mode="generate",status="completed"}': '0+5x60',
      'platform_http_requests_total{method="GET",route="/sessions",status="200"}': '0+600x60',
      platform_cache_up: '1x60',
      platform_storage_up: '1x60',
    },
    fires: [],
  },
  {
    name: 'all processes are away and a round waits',
    series: { 'platform_queue_rounds{state="waiting"}': '1x60', platform_queue_oldest_waiting_seconds: '0+60x60' },
    fires: ['PlatformNoCore', 'PlatformNoWorker', 'PlatformRoundsWait'],
  },
  {
    name: 'stores are away and rounds fail',
    series: {
      'platform_build_info{process="core",version="1"}': '1x60',
      'platform_build_info{process="worker",version="1"}': '1x60',
      'platform_rounds_total{mode="generate",status="failed"}': '0+1x60',
      'platform_rounds_total{mode="generate",status="completed"}': '0+1x60',
      platform_cache_up: '0x60',
      platform_storage_up: '0x60',
    },
    fires: ['PlatformRoundsFail', 'PlatformCacheAway', 'PlatformStoreAway'],
  },
  {
    name: 'answers are errors',
    series: {
      'platform_build_info{process="core",version="1"}': '1x60',
      'platform_http_requests_total{method="GET",route="/sessions",status="200"}': '0+60x60',
      'platform_http_requests_total{method="GET",route="/sessions",status="503"}': '0+60x60',
    },
    fires: ['PlatformServerErrors'],
  },
  {
    name: 'the budget of the day is used up, and two versions run',
    series: {
      'platform_build_info{process="core",version="1"}': '1x60',
      'platform_build_info{process="core",version="2"}': '1x60',
      'platform_model_budget_left{budget="platform_day",unit="tokens"}': '0x60',
    },
    fires: ['PlatformModelBudgetEnds'],
  },
]
const ALERTS = [
  'PlatformNoCore',
  'PlatformNoWorker',
  'PlatformRoundsWait',
  'PlatformRoundsFail',
  'PlatformServerErrors',
  'PlatformCacheAway',
  'PlatformStoreAway',
  'PlatformModelBudgetEnds',
]

it('the alerts are rules that Prometheus takes', async () => {
  const { code, output } = await run(promtool, ['check', 'rules', RULES])
  expect([code, output]).toEqual([0, expect.stringContaining('13 rules found')])
})

it.each(CASES)('the alerts fire when $name, and no other', async ({ series, fires }) => {
  const folder = await mkdtemp(join(tmpdir(), 'world-alerts-'))
  try {
    const file = join(folder, 'test.yaml')
    const tests = ALERTS.map((alertname) => ({
      interval: '1m',
      input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
      promql_expr_test: [
        {
          expr: `count by (alertname) (ALERTS{alertname="${alertname}",alertstate="firing"})`,
          eval_time: '50m',
          exp_samples: fires.includes(alertname) ? [{ labels: `{alertname="${alertname}"}`, value: 1 }] : [],
        },
      ],
    }))
    await writeFile(file, stringify({ rule_files: [RULES], evaluation_interval: '1m', tests }))
    expect(await run(promtool, ['test', 'rules', file])).toMatchObject({ code: 0 })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
