import * as v from 'valibot'
import { createResultTool } from '../result-tool.ts'
import { explanation } from './fields.ts'

/** An address is never an option of the engine's command line. */
const address = v.pipe(
  v.string(),
  v.trim(),
  v.nonEmpty('must not be blank'),
  v.regex(/^[^-]/, 'must not begin with -'),
  v.maxLength(4096),
)

const schema = v.object({
  targets: v.pipe(
    v.array(address),
    v.description(
      'Resource or module addresses to plan, for example module.network or terraform_data.app["a"]; empty plans everything',
    ),
  ),
  explanation: explanation('Why these targets were chosen, written to the user'),
})

/** Ends TARGET_GENERATOR, for session and drift targets. */
export const engineTargetsTool = () =>
  createResultTool({
    name: 'generate_engine_targets',
    description: 'Report the addresses that the engine plans.',
    schema,
  })
