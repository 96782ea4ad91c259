# frozen_string_literal: true

require "minitest/mock"

# For tests that need a signed-in user.
module SigningIn
  PASSWORD = "correct horse battery"

  Pelton::Web::Password.cost = 4 # the minimum, so that tests are fast

  def before_setup
    super
    app.settings.rate_limit_store.then { |store| store.clear if store.respond_to?(:clear) } # memcached has none
  end

  def create_user(email = "ann@example.com", name: email[/\A[^@]*/].capitalize)
    User.create(name: name, email: email, password: PASSWORD)
  end

  # @return [User]
  def sign_in(user = create_user, password: PASSWORD, remember: "0")
    post "/sign_in", sign_in: {email: user.email, password: password, remember: remember}
    assert_predicate response, :redirect?, response.body
    user
  end

  # @return [Boolean]
  def signed_in?
    get "/devices"
    response.ok?
  end

  # Runs the block as another browser, with its own cookies.
  def in_another_browser(&block) = with_session(:another, &block)

  # @return [Array<Array(String, String, String)>] address, subject and text of mails sent in the block
  def mails(&block)
    sent = []
    UserMails.stub(:deliver, ->(*mail) { sent << mail }, &block)
    sent
  end
end
