// Shows the error of a page that breaks, and keeps the rest of the dashboard working.
import { Component, type ComponentChildren } from 'preact';
import { Failure } from './states.tsx';

interface Props {
  readonly children?: ComponentChildren;
}

export class ErrorBoundary extends Component<Props, { error: unknown }> {
  override state = { error: null };

  static override getDerivedStateFromError(error: unknown) {
    return { error };
  }

  render() {
    const { error } = this.state;
    return error === null ? (
      this.props.children
    ) : (
      <Failure error={error} retry={() => this.setState({ error: null })} />
    );
  }
}
