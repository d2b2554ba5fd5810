import { PlatformError } from '../base/errors.ts'

/** The failed status shows the text alone, so both texts carry their name (contract, section 3.5). */
export const toolExecutionsExceeded = (limit: number) =>
  new PlatformError(
    'ToolExecutionsExceeded',
    500,
    `ToolExecutionsExceeded: The total number of tool executions in this chain has reached the limit. Limit=${limit}`,
  )

export const unhandledFinishReason = (reason: string) =>
  new PlatformError(
    'UnhandledInferenceFinishReason',
    500,
    `UnhandledInferenceFinishReason: Error: unexpected finish reason - ${reason}`,
  )
