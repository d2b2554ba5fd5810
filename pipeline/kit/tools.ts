import { type Tool, ToolError } from '../../src/agent/types.ts'
import { MASK } from '../../src/base/masking.ts'
import type { ModelRole } from '../../src/llm/types.ts'
import { fileTools } from '../tools/edit.ts'
import { inspectionTools } from '../tools/look.ts'
import { webSearchTool } from '../tools/web-search.ts'
import { createFileAccess } from '../workspace/files/access.ts'
import type { BareKit, Kit } from './kit.ts'

/** Tools that look at the workspace of the run. */
export const inspection = ({ run }: Kit): Tool[] =>
  inspectionTools(createFileAccess(run.context.config, run.workspace), run.workspace)

/** Everything the generator works with. */
export const editing = (kit: Kit): Tool[] => [
  ...fileTools(createFileAccess(kit.run.context.config, kit.run.workspace)).map(keepingSecrets),
  ...inspection(kit),
  webSearch(kit, 'main'),
]

export const webSearch = ({ llm }: BareKit, role: ModelRole): Tool => webSearchTool(llm, role)

/**
 * Models see sensitive values masked, so a file that is written back with the mask in it would lose the
 * value.
 */
const keepingSecrets = (tool: Tool): Tool => ({
  ...tool,
  run: (args, signal) => {
    if (Object.values(args).some((value) => typeof value === 'string' && value.includes(MASK)))
      throw new ToolError(
        `The text holds "${MASK}", which stands for a value that is hidden from you. Leave the lines with that value as they are: change only other lines, with \`replace_in_file\`.`,
      )
    return tool.run(args, signal)
  },
})
