/** What of a row of Resource Graph tells who made the resource. */
interface Row {
  id: string
  type: string
  managedBy: string
  tags: Record<string, unknown>
  /** Of a role assignment: the ARM id of what it is about. */
  scope: string
}

const GROUP = 'microsoft.resources/subscriptions/resourcegroups'
/** Types that Azure makes itself, here for the failures that Application Insights detects. */
const MADE_BY_AZURE = ['microsoft.alertsmanagement/smartdetectoralertrules']
const IN_GROUP = /^\/subscriptions\/[^/]+\/resourcegroups\/([^/]+)/i
/** Node resource groups of AKS, and the group that Azure makes for Network Watcher. */
const SERVICE_GROUP = /^(mc_.*|networkwatcherrg)$/i

const groupOf = (id: string): string | undefined => IN_GROUP.exec(id)?.[1]?.toLowerCase()

/**
 * The rows without what nobody manages by code: groups that belong to a service, everything in them, and resources that
 * Azure makes or hides.
 */
export function withoutServiceOwned<R extends Row>(rows: readonly R[]): R[] {
  const serviceGroups = new Set(rows.filter(isServiceGroup).map(({ id }) => groupOf(id)))
  const inServiceGroup = (id: string) => {
    const group = groupOf(id)
    return group !== undefined && (serviceGroups.has(group) || SERVICE_GROUP.test(group))
  }
  return rows.filter((row) => !inServiceGroup(row.id) && !inServiceGroup(row.scope) && !isMadeByAzure(row))
}

const isServiceGroup = ({ id, type, managedBy }: Row): boolean =>
  type.toLowerCase() === GROUP && (managedBy !== '' || SERVICE_GROUP.test(groupOf(id) ?? ''))

const isMadeByAzure = ({ type, tags }: Row): boolean =>
  MADE_BY_AZURE.includes(type.toLowerCase()) ||
  Object.keys(tags).some((key) => key.toLowerCase().startsWith('hidden-link'))
