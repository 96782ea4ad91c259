# frozen_string_literal: true

require "pelton/web/middleware/deadline"

class Roda
  module RodaPlugins
    # Limits the time of a request: `plugin :pelton_deadline, 10`. Beyond it, the route is interrupted where it waits, a
    # query is cancelled at the database, and the client gets 503. See {Pelton::Web::Deadline}.
    module PeltonDeadline
      def self.configure(app, seconds) = app.use(Pelton::Web::Deadline, seconds)
    end

    register_plugin(:pelton_deadline, PeltonDeadline)
  end
end
