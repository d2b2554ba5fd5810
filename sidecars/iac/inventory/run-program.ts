import { systemCode } from '../../../config/document.ts'
import { parseJson } from '../../../src/base/json.ts'
import { type ProcessOutput, type ProcessRequest, runProcess } from '../../../src/runtime/run-process.ts'

type ProgramLimits = Required<Pick<ProcessRequest, 'env' | 'timeoutMs' | 'maxOutput' | 'signal'>>

/** The reason why a program gave no output. The message continues a sentence, without the command and its output. */
interface ProgramFault {
  message: string
  isMissing: boolean
}

/**
 * Runs a program, or a text in the shell, and parses what it prints; null for what is no JSON. Its error output, which
 * may hold credentials, is dropped. Errors: that of `explain`; the signal's reason.
 */
export async function runForJson(
  command: readonly string[] | string,
  limits: ProgramLimits,
  explain: (fault: ProgramFault) => Error,
): Promise<unknown> {
  limits.signal.throwIfAborted()
  const [file = '', ...args] = [command].flat()
  const output = await runProcess({ ...limits, file, args, shell: typeof command === 'string' }).catch((error) => {
    throw explain(startFault(error))
  })
  limits.signal.throwIfAborted()
  const message = faultOf(output, limits)
  if (message !== null) throw explain({ message, isMissing: false })
  return parseJson(output.stdout) ?? null
}

function startFault(error: unknown): ProgramFault {
  const code = systemCode(error)
  if (code === ' (ENOENT)') return { message: 'was not found', isMissing: true }
  return { message: `could not be started${code.startsWith(' (E') ? code : ''}`, isMissing: false }
}

function faultOf({ stopped, code }: ProcessOutput, { timeoutMs, maxOutput }: ProgramLimits): string | null {
  if (stopped === 'timeout') return `gave no answer within ${timeoutMs / 1000} s`
  if (stopped === 'output') return `printed more than ${maxOutput / 1024} KiB`
  if (code === 0) return null
  return `failed${code === null ? '' : ` with exit code ${code}`}`
}
