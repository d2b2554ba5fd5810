import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/preact-query'
import { useState } from 'preact/hooks'
import { type Components, calls } from '../../client/api/client.ts'
import { useMe, usePlatform } from '../../client/platform.ts'
import { useAddress } from '../../client/use-address.ts'
import { SelectField } from '../../ui/controls.tsx'
import { TextFilter } from '../../ui/filters.tsx'
import { Badge, Button, Confirm, Empty, Notice } from '../../ui/kit.tsx'
import { QueryContent } from '../../ui/page.tsx'
import { Table } from '../../ui/table.tsx'
import { excerpt, formatMoment } from '../../ui/words.ts'
import { AdminPage, Pager } from './admin-parts.tsx'

type AdminUser = Components['AdminUser']

/** Shows all users and their roles. */
export const Screen = () => (
  <AdminPage title="Users and roles" needs="admin" purpose="see users and assign roles">
    <Users />
  </AdminPage>
)

function Users() {
  const { api } = usePlatform()
  const me = useMe()
  const client = useQueryClient()
  const address = useAddress()
  const [chosen, setChosen] = useState<AdminUser | null>(null)
  const [done, setDone] = useState('')
  const query = { search: address.read('search'), page: Number(address.read('page')) || 1, page_size: 20 }
  const users = useQuery({
    queryKey: ['users', query],
    queryFn: ({ signal }) => calls.listUsers(api, { query, signal }),
    placeholderData: keepPreviousData,
  })
  const assigned = async (user: AdminUser) => {
    setDone(`${nameOf(user)} now has the roles ${user.operation_role} and ${user.panel_role ?? 'none'}.`)
    await client.invalidateQueries({ queryKey: ['users'] })
    if (user.id === me.data?.id) await client.invalidateQueries({ queryKey: ['me'] })
  }
  return (
    <>
      <search class="admin-filters">
        <TextFilter name="search" label="Search" type="search" hint="E-mail or name" address={address} />
      </search>
      <p role="status" class={done ? 'notice notice-good' : 'unseen'}>
        {done}
      </p>
      <QueryContent query={users} what="list of users" lines={8} stale="The list is out of date">
        {(list) =>
          list.items.length === 0 ? (
            <Empty
              title="No user matches"
              actions={<Button onClick={() => address.change({ search: '', page: '' })}>Show all users</Button>}
            >
              A user appears here after the first sign-in.
            </Empty>
          ) : (
            <>
              <UserTable users={list.items} me={me.data?.id} isOld={users.isPlaceholderData} choose={setChosen} />
              <Pager list={list} what={['user', 'users']} address={address} />
            </>
          )
        }
      </QueryContent>
      {chosen && (
        <RolesDialog
          key={chosen.id}
          user={chosen}
          isSelf={chosen.id === me.data?.id}
          onClose={() => setChosen(null)}
          onAssigned={assigned}
        />
      )}
    </>
  )
}

const shown = (text: string) => excerpt(text, 120)
const nameOf = ({ email, display_name, id }: AdminUser) => shown(display_name || email || `user-${id}`)

interface TableProps {
  users: readonly AdminUser[]
  me: number | undefined
  isOld: boolean
  choose: (user: AdminUser) => void
}

const UserTable = ({ users, me, isOld, choose }: TableProps) => (
  <div class="admin-table scroll-x" aria-busy={isOld}>
    <Table head={['User', 'Operation role', 'Panel role', 'Known since', { unseen: 'Change' }]}>
      {users.map((user) => (
        <tr key={user.id}>
          <td>
            <b>{nameOf(user)}</b> {user.id === me && <Badge>you</Badge>}
            <br />
            <span class="small quiet" title={shown(`${user.issuer} ${user.subject}`)}>
              {shown(user.email ?? user.subject)}
            </span>
          </td>
          <td>{user.operation_role}</td>
          <td>{user.panel_role ?? <span class="quiet">no role in the panel</span>}</td>
          <td class="quiet">{formatMoment(user.created_at)}</td>
          <td>
            <Button small onClick={() => choose(user)}>
              Change roles…<span class="unseen"> of {nameOf(user)}</span>
            </Button>
          </td>
        </tr>
      ))}
    </Table>
  </div>
)

const OPERATION_ROLES: readonly [AdminUser['operation_role'], string][] = [
  ['developer', 'Developer: requests changes and reviews them'],
  ['devops', 'Devops: may also use the operations reserved for this role'],
]
const PANEL_ROLES: readonly [NonNullable<AdminUser['panel_role']> | '', string][] = [
  ['', 'None: sees own sessions only'],
  ['viewer', 'Viewer: reads all sessions and the audit'],
  ['editor', 'Editor: also locks and unlocks'],
  ['admin', 'Admin: also assigns roles'],
]

interface RolesProps {
  user: AdminUser
  isSelf: boolean
  onClose: () => void
  onAssigned: (user: AdminUser) => Promise<void>
}

/** Sets both roles of a user, because the API always sets both at once. */
function RolesDialog({ user, isSelf, onClose, onAssigned }: RolesProps) {
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
    <Confirm open title={`Roles of ${nameOf(user)}`} action="Assign these roles" onClose={onClose} onConfirm={assign}>
      {isSelf && (
        <Notice tone="warn" title="These are your own roles">
          Only another admin can restore a role that you remove from yourself. You cannot remove your own panel role
          admin.
        </Notice>
      )}
      <SelectField
        id="operation-role"
        label="Operation role"
        options={OPERATION_ROLES}
        value={operation}
        change={setOperation}
      />
      <SelectField id="panel-role" label="Panel role" options={PANEL_ROLES} value={panel} change={setPanel} />
      <p class="small quiet">Effective from the next request of this user, and recorded in the audit.</p>
    </Confirm>
  )
}
