# frozen_string_literal: true

module Pelton
  module Web
    module Generators
      # `pelton generate authentication`: sign-up and sign-in, as the application's own code.
      # @private
      class Authentication < Generator
        SUMMARY = "sign-up, sign-in and sign-out, devices, passwords"
        USAGE = <<~TEXT
          usage: pelton generate authentication [options]

          Writes users, who sign up, sign in and out, see the devices on which they are signed in, change their password, and get a new one by
          a link in a mail; current_user and require_sign_in for all controllers; and tests of all of it. Passwords are bcrypt's. Then:

            bundle install
            bundle exec pelton db migrate

          and write into app/models/user_mails.rb how your application sends mail.

        TEXT
        ARGUMENTS = (0..0)
        MIGRATIONS = %w[create_users create_sign_ins].freeze
        ROUTES = <<-RUBY
  resource :sign_up, only: [:new, :create]
  resource :sign_in, only: [:new, :create, :destroy]
  resources :devices, only: [:index, :destroy] do
    delete :others, on: :collection
  end
  resource :password, only: [:edit, :update]
  resources :password_resets, only: [:new, :create, :edit, :update], param: :token
        RUBY
        CONNECTION = <<-RUBY
  include CurrentUser

  identified_by :user

  # Channels reject those who are not signed in.
  def connect = self.user = current_user
        RUBY
        private_constant :MIGRATIONS, :ROUTES, :CONNECTION

        def initialize(files)
          super
          need_database
          refuse_another_user
          %w[User SignIn PasswordReset UserMails].zip(%w[user sign_in password_reset user_mails]) do |name, file|
            check_constant(name, "app/models/#{file}.rb")
          end
        end

        def write
          MIGRATIONS.each { |name| write_template("authentication/db/#{name}.rb", Migration.path(@files, name)) }
          Template.paths("authentication").reject { |path| path.start_with?("db/") }.each do |path|
            write_template("authentication/#{path}", path)
          end
          insert
        end

        private

        # Controllers, tests and migrations would not fit to it, whether or not its file is overwritten.
        def refuse_another_user
          model = @files.read("app/models/user.rb")
          return if model.nil? || model.include?("def authenticate(")
          raise Refused, "the application has a User that cannot sign in (app/models/user.rb): " \
            "move it away, generate, and put what it has into the new one and its migration"
        end

        def insert
          @files.insert("Gemfile", "gem \"bcrypt\", \"~> 3.1\"\n", after: /^gem "pelton-sequel".*\n/)
          @files.insert("config/routes.rb", ROUTES, after: /^[ \t]*#{application}\.routes do[ \t]*\n/)
          @files.insert("config/application.rb", "BACKGROUND.every(3600, \"old sign-ins\") { SignIn.clean }\n",
            after: /^BACKGROUND = .*\n/)
          @files.insert("app/controllers/application_controller.rb", "  include CurrentUser\n",
            after: /^class ApplicationController\b.*\n/)
          if @files.read("app/channels/application_connection.rb")
            @files.insert("app/channels/application_connection.rb", CONNECTION,
              after: /^class ApplicationConnection\b.*\n/)
          end
          @files.insert("app/views/layouts/application.html.erb", "<%= render \"shared/account\" %>\n",
            after: /<body[^>]*>\n/)
          @files.insert("test/test_helper.rb", "require_relative \"support/signing_in\"\n",
            after: %r{^require "pelton/web/test"\n})
          @files.insert("test/test_helper.rb", "  include SigningIn\n", after: %r{^  include Pelton::Web::Test\n})
        end
      end
    end
  end
end
