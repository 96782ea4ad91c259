# frozen_string_literal: true

require_relative "../pelton"
require_relative "control"
require_relative "cluster/sockets"
require_relative "cluster/notifier"
require_relative "cluster/child"
require_relative "cluster/worker"
require_relative "cluster/totals"
require_relative "cluster/memory"
require_relative "cluster/restarts"
require_relative "cluster/supervisor"
require_relative "cluster/overview"
require_relative "cluster/master"

module Pelton
  # Several processes that serve the same sockets. The master opens the sockets, forks workers, and replaces those that
  # end. Each worker runs a reactor, and calls the block to serve.
  #
  #   sockets = Pelton::Cluster::Sockets.open(["tcp://127.0.0.1:9292"])
  #   Pelton::Cluster::Master.new(sockets, workers: 2) do |worker|
  #     listeners = worker.sockets.map do |socket|
  #       Pelton::Listener.for_fd(socket, shared: true) { |stream| stream.write(stream.gets) }
  #     end
  #     worker.on_stop { listeners.each(&:close) }
  #   end.run
  module Cluster
  end
end
