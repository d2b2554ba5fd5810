import * as v from 'valibot'
import { told } from './fields.ts'
import { sentinel } from './sentinel.ts'

const schema = v.object({
  status: v.pipe(v.boolean(), v.description('true: the request may be carried out; false: it is answered or declined')),
  explanation: told('For true: why it is acceptable. For false: the answer or the reason, written to the user.'),
})

/** Ends REQUESTS_FILTER. */
export const requestsFilterTool = () =>
  sentinel({ name: 'requests_filter', description: 'Report whether the request may be carried out.', schema })
