# frozen_string_literal: true

require "pelton/web/middleware/deadline"

class Roda
  module RodaPlugins
    # Requests have so many seconds: `plugin :pelton_deadline, 10`. Then what the route waits for is interrupted, a query at the database's server, and the
    # client gets 503. See {Pelton::Web::Deadline}.
    module PeltonDeadline
      def self.configure(app, seconds) = app.use(Pelton::Web::Deadline, seconds)
    end

    register_plugin(:pelton_deadline, PeltonDeadline)
  end
end
