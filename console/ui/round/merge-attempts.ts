import type { AttemptResult } from '../../client/api/schemas.ts'
import type { Lane, LaneStep } from './activity-lines.ts'

/** A lane and the record of its attempt. */
export interface MergedLane extends Lane {
  record: AttemptResult | null
  /** The reason for this attempt, as a sentence if there is one. */
  because: string | null
}

/** Merges the lanes with the attempts: the nth of a task is the nth record. Records without events become lanes. */
export function mergeAttempts(lanes: readonly Lane[], attempts: readonly AttemptResult[]): MergedLane[] {
  const left = [...attempts]
  const merged = lanes.map((lane): MergedLane => {
    const index = lane.kind === 'attempt' ? left.findIndex(({ task }) => task === lane.task) : -1
    const [record = null] = index < 0 ? [] : left.splice(index, 1)
    return { ...lane, ...(record && settled(lane, record)), record, because: lane.reason }
  })
  for (const record of left) insert(merged, laneOfRecord(record))
  return explain(merged)
}

/** Returns the recorded state, which overrides the events. */
function settled(lane: Lane, record: AttemptResult): Partial<Lane> {
  if (record.outcome === null) return {}
  return { ended: record.ended_at ?? lane.ended, steps: record.steps.length > 0 ? foldSteps(record) : lane.steps }
}

/** Counts reading the plan as planning, so that a lane has few cells. */
function foldSteps({ steps }: AttemptResult): LaneStep[] {
  const show = steps.find(({ name }) => name === 'show')
  return steps
    .filter(({ name }) => name !== 'show')
    .map(({ name, outcome, seconds, runs }) => {
      const isPlan = name === 'plan' && show !== undefined
      const state = isPlan && show.outcome === 'failed' ? 'failed' : outcome
      return { name, state, seconds: runs === 0 ? null : seconds + (isPlan ? show.seconds : 0), runs }
    })
}

function laneOfRecord(record: AttemptResult): MergedLane {
  return {
    key: `record-${record.number}`,
    kind: 'attempt',
    task: record.task,
    number: record.number,
    max: null,
    reason: null,
    began: record.started_at,
    ended: record.ended_at,
    steps: foldSteps(record),
    files: [],
    reads: 0,
    rules: 0,
    record,
    because: null,
  }
}

function insert(lanes: MergedLane[], lane: MergedLane): void {
  const behind = lanes.findIndex(({ began }) => began > lane.began)
  lanes.splice(behind < 0 ? lanes.length : behind, 0, lane)
}

function explain(lanes: MergedLane[]): MergedLane[] {
  let before: MergedLane | null = null
  for (const lane of lanes) {
    if (lane.kind !== 'attempt') continue
    if (before?.task === lane.task && before.record?.next_reason) lane.because = before.record.next_reason
    before = lane
  }
  return lanes
}
