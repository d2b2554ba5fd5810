import * as v from 'valibot'
import { createResultTool } from '../result-tool.ts'

const EXPLANATION = 'For true: why it is acceptable. For false: the answer or the reason, written to the user.'

/** Only what is declined has to be explained: that is all the user gets to see. */
const schema = v.pipe(
  v.object({
    status: v.pipe(
      v.boolean(),
      v.description('true: the request may be carried out; false: it is answered or declined'),
    ),
    explanation: v.pipe(v.string(), v.trim(), v.description(EXPLANATION)),
  }),
  v.forward(
    v.partialCheck(
      [['status'], ['explanation']],
      ({ status, explanation }) => status || explanation !== '',
      'must not be blank',
    ),
    ['explanation'],
  ),
)

/** Ends REQUESTS_FILTER. */
export const requestsFilterTool = () =>
  createResultTool({ name: 'requests_filter', description: 'Report whether the request may be carried out.', schema })
