export const OPERATION_ROLES = ['developer', 'devops'] as const
export type OperationRole = (typeof OPERATION_ROLES)[number]
export const PANEL_ROLES = ['viewer', 'editor', 'admin'] as const
export type PanelRole = (typeof PANEL_ROLES)[number]

/** One row for each pair of issuer and subject. */
export interface User {
  id: number
  issuer: string
  subject: string
  email: string | null
  display_name: string | null
  operation_role: OperationRole
  panel_role: PanelRole | null
  created_at: string
  updated_at: string
}
