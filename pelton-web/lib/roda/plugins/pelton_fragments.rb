# frozen_string_literal: true

require "pelton/web/fragments/pages"

class Roda
  module RodaPlugins
    # Pages in pieces: `plugin :pelton_fragments` gives routes and templates the method `fragment(key) { html }`. See
    # {Pelton::Web::Fragments::Helper}.
    module PeltonFragments
      InstanceMethods = Pelton::Web::Fragments::Helper

      def self.configure(app, store = Pelton::Web::Fragments.default) = app.use(Pelton::Web::Fragments::Pages, store)
    end

    register_plugin(:pelton_fragments, PeltonFragments)
  end
end
