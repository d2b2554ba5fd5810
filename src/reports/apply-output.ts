/** An effect of an apply on an object. */
export type Effect = 'created' | 'updated' | 'destroyed'

export interface EngineError {
  /** Address of the resource that the error names; null when it names none. */
  address: string | null
  /** Type and name of the block that the error names, for example `aws_vpc.main`; null when it names none. */
  block: string | null
  /** Error text without Terraform's frame; at most 2,000 characters and an ellipsis. */
  text: string
}

/** Facts from the output of an apply, which OpenTofu and Terraform print alike. */
export interface ApplyOutput {
  /** Completed effects, by address. */
  done: Map<string, Set<Effect>>
  /** Begun effects, completed or not, by address. */
  begun: Map<string, Set<Effect>>
  /** Counts in the closing line; null when there is none, because the apply failed. */
  counts: { created: number; updated: number; destroyed: number } | null
  errors: EngineError[]
  /** True if the engine refused the plan because its state is outdated. */
  isStale: boolean
  /** True if the engine could not lock the state. */
  isLocked: boolean
}

const DONE = /^(.+?): (Creation|Modifications|Destruction) complete after \S+/
const BEGUN = /^(.+?): (Creating|Modifying|Destroying)\.\.\./
/** The closing line; OpenTofu also counts what was only removed from the state. */
const CLOSING =
  /^Apply complete! Resources: (?:\d+ imported, )?(\d+) added, (\d+) changed, (\d+) destroyed(?:, \d+ forgotten)?\./
const EFFECTS: Record<string, Effect> = {
  Creation: 'created',
  Modifications: 'updated',
  Destruction: 'destroyed',
  Creating: 'created',
  Modifying: 'updated',
  Destroying: 'destroyed',
}

/** Reads the output of an apply line by line. */
export function readApplyOutput(stdout: string, stderr: string): ApplyOutput {
  const done = new Map<string, Set<Effect>>()
  const begun = new Map<string, Set<Effect>>()
  let counts: ApplyOutput['counts'] = null
  for (const line of stdout.split('\n')) {
    const closing = CLOSING.exec(line)
    if (closing) {
      counts = { created: Number(closing[1]), updated: Number(closing[2]), destroyed: Number(closing[3]) }
      // Outputs follow; their text is arbitrary and may imitate lines of the engine.
      break
    }
    addEffect(done, DONE.exec(line))
    addEffect(begun, BEGUN.exec(line))
  }
  return {
    done,
    begun,
    counts,
    errors: readErrors(stderr),
    isStale: /^[│\s]*Error: Saved plan is stale/m.test(stderr),
    isLocked: /^[│\s]*Error: Error acquiring the state lock/m.test(stderr),
  }
}

function addEffect(effects: Map<string, Set<Effect>>, match: RegExpExecArray | null): void {
  const [, address = '', what = ''] = match ?? []
  const effect = EFFECTS[what]
  if (effect) effects.set(address, (effects.get(address) ?? new Set()).add(effect))
}

const MAX_ERROR = 2_000

function readErrors(stderr: string): EngineError[] {
  const plain = stderr
    .split('\n')
    .filter((line) => !/^[╷╵]\s*$/.test(line))
    .map((line) => line.replace(/^│ ?/, ''))
  const blocks: string[][] = []
  for (const line of plain) {
    if (/^(?:Error|Warning): /.test(line)) blocks.push([line])
    else blocks.at(-1)?.push(line)
  }
  return blocks
    .filter(([title]) => title?.startsWith('Error: '))
    .map((lines) => {
      const text = lines.join('\n').trim()
      const address = /^\s+with (.+),$/m.exec(text)?.[1] ?? null
      const [, type, name] = /^\s+on .+ line \d+, in resource "([^"]+)" "([^"]+)":$/m.exec(text) ?? []
      const block = type === undefined ? null : `${type}.${name}`
      return { address, block, text: text.length > MAX_ERROR ? `${text.slice(0, MAX_ERROR)}…` : text }
    })
}
