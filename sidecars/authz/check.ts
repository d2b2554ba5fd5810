import { z } from 'zod'

export const CheckRequest = z.strictObject({
  user_id: z.string().min(1).max(1024).nullish(),
  cloud: z.string().min(1).max(32),
  project: z.string().min(1).max(256),
  environment: z.string().min(1).max(32).nullish(),
})

export interface Decision {
  authorized: boolean
  portal_url: null
  reason: string
}

/** The decision of this implementation follows the permissive switch alone; no cloud is asked. */
export function decide({ cloud, project }: z.output<typeof CheckRequest>, permissive: boolean): Decision {
  const reason = permissive
    ? 'This reference implementation authorises every request; replace it before production use.'
    : `This reference implementation authorises nobody on ${cloud}/${project}.`
  return { authorized: permissive, portal_url: null, reason }
}
