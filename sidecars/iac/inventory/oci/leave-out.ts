/** One resource as OCI Search describes it. */
export interface SearchedResource {
  resourceType: string
  lifecycleState: string
}

/**
 * Kinds that come and go with something else; Search does not tell the few apart that code made by itself.
 * Addresses and interfaces belong to an instance, node pool or load balancer, attachments of boot volumes to an instance,
 * nodes to a database system; console histories and work requests are records.
 */
const DEPENDENT = [
  'privateip',
  'vnic',
  'vnicattachment',
  'bootvolumeattachment',
  'dbnode',
  'consolehistory',
  'workrequest',
]

/** Gone or going; Search lists such resources for a while, keys and vaults for as long as their deletion waits. */
const GONE = ['terminated', 'terminating', 'deleted', 'deleting', 'pending_deletion', 'scheduling_deletion']

/** Whether an engine could manage this. */
export const isManageable = ({ resourceType, lifecycleState }: SearchedResource): boolean =>
  !DEPENDENT.includes(resourceType.toLowerCase()) && !GONE.includes(lifecycleState.toLowerCase())
