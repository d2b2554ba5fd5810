/** One resource as OCI Search describes it. */
export interface SearchedResource {
  resourceType: string
  lifecycleState: string
}

/**
 * Kinds that come and go with something else. Search does not tell the few apart that somebody made by code. Addresses
 * and interfaces belong to an instance, node pool or load balancer, attachments of boot volumes to an instance, nodes
 * to a database system. Console histories and work requests are mere records.
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

/** States of what is gone or going. Search lists it for a while, a key or vault as long as its deletion is pending. */
const GONE = ['terminated', 'terminating', 'deleted', 'deleting', 'pending_deletion', 'scheduling_deletion']

/** Whether an engine could manage this. */
export const isManageable = ({ resourceType, lifecycleState }: SearchedResource): boolean =>
  !DEPENDENT.includes(resourceType.toLowerCase()) && !GONE.includes(lifecycleState.toLowerCase())
