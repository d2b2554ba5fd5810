import { requireUser } from '../../access.ts'
import { endpoint } from '../../endpoint.ts'
import { json } from '../../openapi/answers.ts'
import { User } from '../../schemas/user.ts'

export const getMe = endpoint({
  method: 'get',
  path: '/v1/users/me',
  operationId: 'getMe',
  tags: ['Identity'],
  summary: 'The caller',
  description: 'The row of the caller, created on first sight.',
  answer: json(User, 'The caller.'),
  gate: requireUser,
  handle: async (c) => {
    const { id, email, display_name, operation_role, panel_role } = c.get('user')
    return { id, email, display_name, operation_role, panel_role }
  },
})
