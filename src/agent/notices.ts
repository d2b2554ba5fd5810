/** What the loop itself says to the model. Names of tools stand in backticks, as in the prompts of the chains. */
export const reminder = (resultTool: string) =>
  'Your reply called no tool. Go on with the task, and when you are done call the tool ' +
  `\`${resultTool}\`: only that call ends it.`

export const emptyReplyNotice = (resultTool: string) =>
  `Notice: your last reply was empty. Call a tool, or \`${resultTool}\` when you are done.`

export const lastTurnNotice = (resultTool: string) =>
  `Notice: this is the last turn. No other tool is available any more. Call \`${resultTool}\` now with what you have.`

export const duplicateCall = (name: string, earlierId: string) =>
  `Not run again: \`${name}\` was already called with the same parameters (call ${earlierId}) and nothing has ` +
  'changed since. Use that answer.'

export const withdrawnTool = (name: string) =>
  `Not run again: the answer of \`${name}\` was already given and the files have not changed since. Use that answer.`

export const toolNotFound = (name: string) => `Tool ${name} not found`

export const missingParameters = (name: string, missing: readonly string[]) =>
  missing.length === 1
    ? `Missing required parameter of \`${name}\`: ${missing[0]}`
    : `Missing required parameters of \`${name}\`: ${missing.join(', ')}`

export const notJson = (name: string, reason: string) =>
  `The arguments of \`${name}\` are not a JSON object (${reason}). Call it again with one valid JSON object.`

export const emptyResult = (name: string) =>
  `\`${name}\` was called with nothing in it. Call it again with your result.`

export const unexpectedFailure = (name: string) => `The tool \`${name}\` failed unexpectedly.`
