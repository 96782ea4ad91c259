# frozen_string_literal: true

require_relative "../middleware/rack_session"

module Pelton
  module Web
    # A client's connection to the application's channels. The class ApplicationConnection, in `app/channels`, derives
    # from it; without one everybody may connect.
    #
    #     class ApplicationConnection < Pelton::Web::Connection
    #       include CurrentUser # of `pelton generate authentication`
    #       identified_by :user
    #
    #       def connect = self.user = current_user || reject_unauthorized_connection
    #     end
    class Connection < Pelton::Cable::Connection
      NAME = "ApplicationConnection"
      private_constant :NAME

      # Makes connections of the class that is loaded now.
      # @private
      class Current
        def initialize(settings) = @settings = settings

        def new(session, env) = loaded.new(session, env, @settings)

        def identifiers = loaded.identifiers

        def name = NAME

        private

        def loaded = Object.const_defined?(NAME) ? Object.const_get(NAME) : Connection
      end

      class << self
        # Modules for controllers call it. A connection has no templates.
        #
        # @private
        def helper_method(*) = nil
      end

      # @return [Settings] the application's
      attr_reader :settings

      # @private
      def initialize(session, env, settings)
        super(session, env)
        @settings = settings
        @controller = RackSession::Keeper.new(env, {}, settings)
      end

      # @return [Request]
      # @raise [Error] outside of {#connect}
      def request = controller.request

      # @return [Cookies] also {Cookies#signed} and {Cookies#encrypted}. A change is not sent
      # @raise [Error] outside of {#connect}
      def cookies = controller.cookies

      # @return [Session] of the application. A change is not sent
      # @raise [Error] outside of {#connect}
      def session = controller.session

      # @private
      def _connect
        super
      ensure
        @controller = nil
      end

      private

      def controller = env && @controller

      # A connection has no response: what modules for controllers set is dropped.
      def headers = {}

      def vary(*) = nil
    end
  end
end
