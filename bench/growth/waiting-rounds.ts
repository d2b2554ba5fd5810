import { setTimeout as sleep } from 'node:timers/promises'
import { residentMegabytes } from '../lib/blocking.ts'
import { type Growth, growthTable } from '../lib/growth.ts'
import { percentile, type Section } from '../lib/report.ts'
import { allEnded, processorSeconds, requestOf, withRounds } from './rounds-world.ts'

const SAMPLE_MS = 250

/** Measures a worker's memory and processor time with so many rounds at once that wait for their model. */
export const benchWaitingRounds = (options: { sizes: number[]; first_token_ms: number }): Promise<Section> => {
  const { sizes, first_token_ms } = options
  const times = { first_token: first_token_ms, input_token: 0.05, cached_token: 0.005, output_token: 15 }
  return withRounds({ times, concurrency: Math.max(...sizes) }, async ({ sql, workers, accept }) => {
    const [pid = 0] = workers
    await sleep(3_000)
    const idle = residentMegabytes(pid)
    const rows: { size: number; median: number; most: number; cpu: number; wall: number; after: number }[] = []
    for (const size of sizes) {
      const began = performance.now()
      const cpu = processorSeconds(pid)
      const ids = await Promise.all(
        Array.from({ length: size }, (_, index) => accept(`user ${index}`, requestOf('queue').request)),
      )
      const samples: number[] = []
      const timer = setInterval(() => samples.push(residentMegabytes(pid)), SAMPLE_MS)
      await allEnded(sql, ids, 900).finally(() => clearInterval(timer))
      const wall = (performance.now() - began) / 1000
      const used = processorSeconds(pid) - cpu
      await sleep(5_000)
      const [ends] = await sql<{ completed: number }[]>`
        SELECT count(*) AS completed FROM rounds r JOIN statuses s ON s.round_id = r.id
        WHERE r.id = ANY(${ids}::int[]) AND s.status = 'completed'`
      if (ends?.completed !== size) throw new Error(`${ends?.completed} of ${size} rounds were completed`)
      rows.push({
        size,
        median: percentile(samples, 0.5),
        most: Math.max(...samples),
        cpu: used / size,
        wall,
        after: residentMegabytes(pid),
      })
    }
    const of = (pick: (row: (typeof rows)[number]) => number) =>
      rows.map((row) => ({ size: row.size, cost: pick(row) }))
    const cases: Growth[] = [
      { name: 'resident memory, median', unit: 'MB', points: of(({ median }) => median) },
      { name: 'resident memory, most', unit: 'MB', points: of(({ most }) => most), aim: 1_000 },
      { name: 'resident memory 5 s after', unit: 'MB', points: of(({ after }) => after) },
      { name: 'memory a round (most, over idle)', unit: 'MB', points: of(({ most, size }) => (most - idle) / size) },
      { name: 'processor time a round', unit: 's', points: of(({ cpu }) => cpu) },
      { name: 'all rounds', unit: 's', points: of(({ wall }) => wall) },
    ]
    return {
      title: `Waiting rounds of one worker (real engine, a model whose first token takes ${first_token_ms / 1000} s)`,
      figures: [{ name: 'worker, idle', value: idle, unit: 'MB' }],
      tables: [growthTable('Rounds at once', cases)],
      notes: ['Processor time: the worker with its git and search processes, without the engine.'],
    }
  })
}
