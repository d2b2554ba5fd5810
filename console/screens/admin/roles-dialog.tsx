import { useState } from 'preact/hooks'
import { calls } from '../../client/api/calls.ts'
import type { Components } from '../../client/api/schemas.ts'
import { usePlatform } from '../../client/platform.ts'
import { Confirm } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'

type AdminUser = Components['AdminUser']

const OPERATION_ROLES: readonly [AdminUser['operation_role'], string][] = [
  ['developer', 'Developer: asks for changes and reviews them'],
  ['devops', 'Devops: may do the operations that the operator keeps for this role'],
]
const PANEL_ROLES: readonly [NonNullable<AdminUser['panel_role']> | '', string][] = [
  ['', 'None: sees own sessions only'],
  ['viewer', 'Viewer: reads all sessions and the audit'],
  ['editor', 'Editor: also locks and unlocks'],
  ['admin', 'Admin: also assigns roles'],
]

interface RolesProps {
  user: AdminUser
  name: string
  isSelf: boolean
  onClose: () => void
  onAssigned: (user: AdminUser) => Promise<void>
}

/** Both roles of a user. The API always sets both at once. */
export function RolesDialog({ user, name, isSelf, onClose, onAssigned }: RolesProps) {
  const { api } = usePlatform()
  const [operation, setOperation] = useState<string>(user.operation_role)
  const [panel, setPanel] = useState<string>(user.panel_role ?? '')
  const assign = async () =>
    onAssigned(
      await calls.setRoles(api, {
        params: { user_id: user.id },
        body: { operation_role: operation, ...(panel !== '' && { panel_role: panel }) },
      }),
    )
  return (
    <Confirm open title={`Roles of ${name}`} action="Assign these roles" onClose={onClose} onConfirm={assign}>
      {isSelf && (
        <Notice tone="warn" title="These are your own roles">
          What you take away from yourself, another admin has to give back. The platform refuses to take the panel role
          admin from yourself.
        </Notice>
      )}
      <Field id="operation-role" label="Operation role">
        {(control) => (
          <select {...control} value={operation} onChange={({ currentTarget }) => setOperation(currentTarget.value)}>
            {OPERATION_ROLES.map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field id="panel-role" label="Panel role">
        {(control) => (
          <select {...control} value={panel} onChange={({ currentTarget }) => setPanel(currentTarget.value)}>
            {PANEL_ROLES.map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        )}
      </Field>
      <p class="small quiet">In force from the next request of this user, and kept in the audit.</p>
    </Confirm>
  )
}
