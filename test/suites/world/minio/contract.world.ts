import { describeStore } from '../../../dev/object-store/contract/store.ts'
import { startMinio } from './server.ts'

describeStore('MinIO', () => startMinio())
