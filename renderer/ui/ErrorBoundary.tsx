import { Component, type ErrorInfo, type ReactNode } from 'react';
import { ErrorState } from './Feedback.tsx';

interface State {
  error: Error | null;
}

/** Keeps a fault of one screen inside that screen, with details to copy and another try. */
export class ErrorBoundary extends Component<{ children: ReactNode }, State> {
  override state: State = { error: null };

  static getDerivedStateFromError(error: unknown): State {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }

  override componentDidCatch(error: Error, info: ErrorInfo): void {
    console.error(error, info.componentStack);
  }

  override render(): ReactNode {
    const { error } = this.state;
    return error ? <ErrorState error={error} onRetry={() => this.setState({ error: null })} /> : this.props.children;
  }
}
