import { USUAL_TIMES } from '../../dev/scripted-model/clock.ts'
import type { Sql } from '../../src/data/db/sql.ts'
import { percentile, type Section, type Table } from '../lib/report.ts'
import { allEnded, processorSeconds, type World, withRounds } from './rounds-world.ts'

/** A request that the scripted filter declines after it has looked: no engine, no branch. */
const QUESTION = 'Which network does the shop use?'
/** One round each of so many further users, accepted when the workers are busy with those of one user. */
const OTHERS = 20

interface Run {
  workers: number
  wall_s: number
  /** Seconds of processor time of all workers for one round. */
  cpu_s: number
  /** Waiting times in seconds of the user with many rounds, and of the first rounds of the others. */
  many: number[]
  others: number[]
  lost: number
  /** Rounds with two ends. */
  twice: number
  /** Rounds that began again, because their worker lost its lease: without time on a processor it cannot extend it. */
  interrupted: number
}

/**
 * Measures how many queued rounds workers end in an hour, how long those of one user make others wait, and whether each
 * runs once. The rounds are questions, which wait for the model three times or so and use no engine, so that the queue
 * and the workers are measured rather than the engine.
 */
export const benchQueuedRounds = (options: {
  rounds: number
  workers: number[]
  concurrency: number
}): Promise<Section> =>
  withRounds({ times: USUAL_TIMES, concurrency: options.concurrency }, async (world) => {
    const runs: Run[] = []
    for (const workers of options.workers) {
      while (world.workers.length < workers) await world.addWorker()
      runs.push(await measureRun(world, options.rounds))
    }
    // With more places than rounds of the one user nobody waits, so the fewest workers show it best.
    const { many = [], others = [] } = runs[0] ?? {}
    return {
      title: `Queued rounds (${options.rounds}, up to ${options.concurrency} at once for each worker, usual model clock)`,
      figures: [
        { name: 'lost', value: runs.reduce((sum, { lost }) => sum + lost, 0), unit: 'rounds', aim: 0 },
        { name: 'ended twice', value: runs.reduce((sum, { twice }) => sum + twice, 0), unit: 'rounds', aim: 0 },
        { name: 'began again', value: runs.reduce((sum, { interrupted }) => sum + interrupted, 0), unit: 'rounds' },
        {
          name: 'first rounds of others, fewest workers: longest wait to the median of the one user',
          ...{ value: Math.max(...others) / percentile(many, 0.5), unit: 'x', aim: 0.5 },
        },
      ],
      tables: [tableOf(runs)],
      notes: [
        'Rounds: questions that the filter answers, so no engine runs. ' +
          `All but ${OTHERS} belong to one user; the others were accepted last, each of a user of its own.`,
      ],
    }
  })

async function measureRun({ sql, workers, accept }: World, rounds: number): Promise<Run> {
  const before = workers.map(processorSeconds)
  const began = performance.now()
  const ids: number[] = []
  while (ids.length < rounds - OTHERS) {
    const some = Math.min(50, rounds - OTHERS - ids.length)
    ids.push(...(await Promise.all(Array.from({ length: some }, () => accept('many', QUESTION)))))
  }
  const others = await Promise.all(Array.from({ length: OTHERS }, (_, index) => accept(`other ${index}`, QUESTION)))
  await allEnded(sql, [...ids, ...others], 3_600)
  const wall_s = (performance.now() - began) / 1000
  const used = workers.reduce((sum, pid, index) => sum + processorSeconds(pid) - (before[index] ?? 0), 0)
  return {
    ...{ workers: workers.length, wall_s, cpu_s: used / rounds },
    ...{ many: await readWaits(sql, ids), others: await readWaits(sql, others) },
    ...(await readFaults(sql, [...ids, ...others])),
  }
}

/** Reads the seconds from the acceptance of each round to its first status after that. */
async function readWaits(sql: Sql, ids: readonly number[]): Promise<number[]> {
  const rows = await sql<{ seconds: number }[]>`
    SELECT extract(epoch FROM min(s.created_at) - r.created_at)::float8 AS seconds
    FROM rounds r JOIN statuses s ON s.round_id = r.id AND s.status <> 'started'
    WHERE r.id = ANY(${ids as number[]}::int[]) GROUP BY r.id`
  return rows.map(({ seconds }) => seconds)
}

type Faults = Pick<Run, 'lost' | 'twice' | 'interrupted'>

async function readFaults(sql: Sql, ids: readonly number[]): Promise<Faults> {
  const [row] = await sql<Faults[]>`
    SELECT count(*) FILTER (WHERE ends = 0) AS lost, count(*) FILTER (WHERE ends > 1) AS twice,
      count(*) FILTER (WHERE attempts > 1) AS interrupted
    FROM (
      SELECT r.attempts, count(*) FILTER (WHERE s.status IN ('completed', 'uncompleted', 'failed')) AS ends
      FROM rounds r JOIN statuses s ON s.round_id = r.id WHERE r.id = ANY(${ids as number[]}::int[]) GROUP BY r.id
    ) counted`
  return row ?? { lost: ids.length, twice: 0, interrupted: 0 }
}

function tableOf(runs: readonly Run[]): Table {
  const seconds = (value: number) => value.toFixed(1)
  return {
    title: 'Rounds an hour and waiting times in seconds',
    columns: [
      ...['workers', 'rounds an hour', 'all ended', 'processor s a round', 'one user, median', 'one user, longest'],
      ...['others, median', 'others, longest'],
    ],
    rows: runs.map(({ workers, wall_s, cpu_s, many, others }) => [
      ...[workers, Math.round(((many.length + others.length) / wall_s) * 3_600), seconds(wall_s), cpu_s.toFixed(2)],
      ...[seconds(percentile(many, 0.5)), seconds(Math.max(...many))],
      ...[seconds(percentile(others, 0.5)), seconds(Math.max(...others))],
    ]),
  }
}
