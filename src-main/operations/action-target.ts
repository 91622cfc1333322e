/** The connection that an action goes to. */
export interface ActionTarget {
  readonly connectionId: string
  readonly connectionName: string
  readonly environment: 'local' | 'development' | 'staging' | 'production'
  readonly accessMode: 'read-only' | 'read-write'
}
